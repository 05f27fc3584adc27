import DBus
import Desktop

/// A reader that is claimed: from here to ``release()`` no other program can use it.
///
/// All that it tells is told by the one process that has given the claim.
@BusActor
final class FprintClaim {
    /// What the reader tells.
    enum Event {
        case scanned(VerifyStatus)
        /// It expects this finger.
        case selected(finger: String)
        /// fprintd or the bus has gone.
        case lost
    }

    private enum State {
        case held
        case lost
        case released
    }

    let device: FprintDevice
    /// Whether the reader wants a swipe rather than a touch.
    let wantsSwipe: Bool
    /// Hears all events.
    var onEvent: (@BusActor (Event) -> Void)?

    private let limits: FingerprintLimits
    private var state = State.held
    private var subscriptions: [SubscriptionID] = []

    /// Claims a reader, and waits for a while if another program has it.
    ///
    /// - Parameter isWanted: asked before each try; when it says no, the claim fails as it did last.
    static func make(
        _ device: FprintDevice,
        wantsSwipe: Bool,
        _ limits: FingerprintLimits,
        while isWanted: () -> Bool
    ) async throws(BusError) -> FprintClaim {
        let deadline = Deadline(after: limits.busy)
        while true {
            do throws(BusError) {
                try await device.claim(timeout: limits.call)
                return FprintClaim(device, wantsSwipe: wantsSwipe, limits)
            } catch {
                if error.name == .noReply {
                    // It may get to the claim later, and would then keep the reader for as long as this process lives.
                    BusActor.start { try? await device.release(timeout: limits.call) }
                }
                guard error.name == .alreadyInUse, deadline.rest > .zero, isWanted() else { throw error }
                await BusActor.loop.wait(for: min(limits.retry, deadline.rest))
            }
        }
    }

    private init(_ device: FprintDevice, wantsSwipe: Bool, _ limits: FingerprintLimits) {
        self.device = device
        self.wantsSwipe = wantsSwipe
        self.limits = limits
        let (connection, owner) = (device.service.connection, device.service.owner)
        let signals = SignalMatch(sender: owner, path: device.path, interface: FprintDevice.interface)
        subscriptions = [
            connection.subscribe(to: signals) { [weak self] in self?.receive($0) },
            connection.followOwner(of: FprintService.busName) { [weak self] current in
                if current != owner { self?.lose() }
            },
        ]
    }

    /// Whether the reader is still claimed, as far as can be known.
    var isHeld: Bool {
        if case .held = state { device.service.connection.isOpen } else { false }
    }

    // MARK: Scanning

    /// Lets the reader wait for a finger.
    func startVerifying() async throws(BusError) {
        try await device.startVerifying(timeout: limits.call)
    }

    /// Lets the reader wait no longer; that there is nothing to stop, or nobody to tell, is fine.
    func stopVerifying() async {
        guard isHeld else { return }
        try? await device.stopVerifying(timeout: limits.call)
    }

    private func receive(_ message: Message) {
        switch message.member {
        case "VerifyStatus":
            guard let (result, isDone) = try? message.read(String.self, Bool.self) else { return }
            onEvent?(.scanned(VerifyStatus(result, isDone: isDone)))
        case "VerifyFingerSelected":
            guard let finger = try? message.read(String.self) else { return }
            onEvent?(.selected(finger: finger))
        default:
            break
        }
    }

    // MARK: The end

    /// fprintd or the bus has gone, and the claim with it.
    func lose() {
        guard case .held = state else { return }
        state = .lost
        onEvent?(.lost)
    }

    /// Gives the reader back, and tells whether it was still there.
    @discardableResult
    func release() async -> Bool {
        let before = state
        state = .released
        onEvent = nil
        let connection = device.service.connection
        for subscription in subscriptions {
            connection.unsubscribe(subscription)
        }
        subscriptions = []
        guard case .held = before else { return false }
        do throws(BusError) {
            try await device.release(timeout: limits.call)
            return true
        } catch {
            return false
        }
    }
}
