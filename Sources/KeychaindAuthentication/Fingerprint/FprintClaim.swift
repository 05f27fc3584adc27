import KeychaindDBus
import KeychaindDesktop

/// A claimed reader; until ``release()`` no other program can use it.
///
/// Accepts events only from the process that granted the claim.
@BusActor
final class FprintClaim {
    enum Event {
        case scanned(VerifyStatus)
        /// The finger the reader expects.
        case selected(finger: String)
        case lost

        /// What a signal of the reader tells; nil for another signal, or arguments of other types.
        init?(_ signal: Message) {
            switch signal.member {
            case "VerifyStatus":
                guard let (result, isDone) = try? signal.read(String.self, Bool.self) else { return nil }
                self = .scanned(VerifyStatus(result, isDone: isDone))
            case "VerifyFingerSelected":
                guard let finger = try? signal.read(String.self) else { return nil }
                self = .selected(finger: finger)
            default:
                return nil
            }
        }
    }

    private enum State {
        case held
        case lost
        case released
    }

    let device: FprintDevice
    let wantsSwipe: Bool
    var onEvent: (@BusActor (Event) -> Void)?

    private let limits: FingerprintLimits
    private var state = State.held
    private var subscriptions: [SubscriptionID] = []

    /// Claims a reader; retries for ``FingerprintLimits/busy`` while another program has it.
    ///
    /// - Parameter isWanted: checked before each retry; if false, the last error is thrown.
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
                    // fprintd may still process the claim and hold the reader as long as this process lives.
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

    /// Whether the claim is held and the bus is open.
    var isHeld: Bool {
        if case .held = state { device.service.connection.isOpen } else { false }
    }

    // MARK: Scanning

    func startVerifying() async throws(BusError) {
        try await device.startVerifying(timeout: limits.call)
    }

    /// Stops waiting for a finger; ignores errors.
    func stopVerifying() async {
        guard isHeld else { return }
        try? await device.stopVerifying(timeout: limits.call)
    }

    private func receive(_ signal: Message) {
        if let event = Event(signal) { onEvent?(event) }
    }

    // MARK: Ending

    func lose() {
        guard case .held = state else { return }
        state = .lost
        onEvent?(.lost)
    }

    /// Releases the reader; returns whether it was still there.
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
