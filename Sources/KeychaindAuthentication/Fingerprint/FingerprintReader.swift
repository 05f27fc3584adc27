package import KeychaindDBus
package import KeychaindDesktop
package import Logging

/// The machine's fingerprint reader, driven by fprintd over the system bus.
///
/// Looks for a reader at each use, since one may be plugged in at any moment. A missing system bus, fprintd or reader
/// is normal and cheap.
@BusActor
package final class FingerprintReader: Biometry {
    private struct KeptClaim {
        let claim: FprintClaim
        let timer: Timer
    }

    private let bus: SystemBus
    private let templates: TemplateStore
    private let limits: FingerprintLimits
    private let logger: Logger
    private var followsBus = false
    /// Keeps itself until it has released the reader.
    private weak var lastMatch: FingerprintMatch?
    private weak var usedClaim: FprintClaim?
    private var keptClaim: KeptClaim?
    private var hasSeenReader = false

    /// The gesture of the reader found last.
    package private(set) var firstHint = BiometryHint.touch

    /// - Parameter templates: the folder of fprintd's enrolled prints.
    package init(
        bus: SystemBus,
        templates: TemplateStore = TemplateStore(),
        limits: FingerprintLimits = FingerprintLimits(),
        logger: Logger
    ) {
        self.bus = bus
        self.templates = templates
        self.limits = limits
        self.logger = logger
    }

    // MARK: Availability

    /// Looks for a reader and enrolled fingers.
    package func availability() async -> BiometryAvailability {
        let deadline = Deadline(after: limits.availability)
        do throws(BusError) {
            let service = try await FprintService.find(on: bus, until: deadline)
            followBus()
            guard let (device, fingers) = try await service.findReader(until: deadline) else {
                return hasSeenReader ? .disconnected : .notAvailable(reason: "there is no fingerprint reader")
            }
            hasSeenReader = true
            guard !fingers.isEmpty else { return .notEnrolled }
            let (model, wantsSwipe) = try await device.description(until: deadline)
            firstHint = wantsSwipe ? .swipe : .touch
            return await available(model, fingers)
        } catch {
            return .notAvailable(reason: FingerprintReader.reason(of: error))
        }
    }

    private func available(_ model: String, _ fingers: [String]) async -> BiometryAvailability {
        let templates = templates
        let snapshot = await BlockingThread.run { templates.snapshot() }
        guard let set = EnrolledSet(model: model, fingers: fingers, templates: snapshot).hash() else {
            return .notAvailable(reason: "out of memory while hashing the enrolled fingers")
        }
        return .available(set)
    }

    private static func reason(of error: BusError) -> String {
        switch error.name {
        case .serviceUnknown: "fprintd is not installed"
        case .noReply, .timeout: "fprintd does not answer"
        default: "\(error)"
        }
    }

    // MARK: Matching

    /// Matches the next touch, after any match still running.
    package func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch {
        let match = FingerprintMatch(self, limits, hint: hint)
        match.start(after: lastMatch)
        lastMatch = match
        return match
    }

    /// Claims the reader for a match; matches run one at a time.
    func claim(while isWanted: () -> Bool) async throws(AuthenticationError) -> FprintClaim {
        if let claim = takeKeptClaim() { return claim }
        do throws(BusError) {
            let deadline = Deadline(after: limits.call)
            let service = try await FprintService.find(on: bus, until: deadline)
            followBus()
            guard let (device, fingers) = try await service.findReader(until: deadline) else {
                throw BusError(.noSuchDevice, "there is no fingerprint reader")
            }
            guard !fingers.isEmpty else { throw BusError(.noEnrolledPrints, "no finger is enrolled") }
            let wantsSwipe = try await device.description(until: deadline).wantsSwipe
            let claim = try await FprintClaim.make(device, wantsSwipe: wantsSwipe, limits, while: isWanted)
            usedClaim = claim
            return claim
        } catch {
            logger.debug("cannot match a finger", metadata: ["error": "\(error)"])
            throw AuthenticationError(matching: error)
        }
    }

    // MARK: Between matches

    /// Keeps a claim for the next match, ``FingerprintLimits/keep`` at most.
    func keep(_ claim: FprintClaim) {
        let timer = BusActor.loop.schedule(after: limits.keep) { [weak self] in self?.releaseKeptClaim() }
        keptClaim = KeptClaim(claim: claim, timer: timer)
    }

    private func takeKeptClaim() -> FprintClaim? {
        guard let kept = keptClaim else { return nil }
        keptClaim = nil
        BusActor.loop.cancel(kept.timer)
        if kept.claim.isHeld { return kept.claim }
        BusActor.start { await kept.claim.release() }
        return nil
    }

    private func releaseKeptClaim() {
        guard let kept = keptClaim else { return }
        keptClaim = nil
        BusActor.start { await kept.claim.release() }
    }

    // MARK: The bus

    /// Subscribes once to the end of the system bus.
    private func followBus() {
        guard !followsBus else { return }
        followsBus = true
        bus.follow { [weak self] connection in
            guard let self, connection == nil else { return }
            usedClaim?.lose()
        }
    }
}

/// Time limits for fprintd and the person.
package struct FingerprintLimits: Sendable {
    /// All calls of ``FingerprintReader/availability()``, including the start of fprintd.
    package var availability = Duration.seconds(5)

    /// One call during a match; opening a reader may take two seconds.
    package var call = Duration.seconds(10)

    /// The wait for a reader that another program uses.
    package var busy = Duration.seconds(5)

    /// The interval between claims of a reader in use.
    package var retry = Duration.milliseconds(250)

    /// The wait for a touch once the reader is ready; fprintd has no limit.
    package var touch = Duration.seconds(120)

    /// The time a reader stays claimed after a mismatch; reopening it is slow.
    package var keep = Duration.milliseconds(500)

    /// The number of unusable scans accepted per match.
    package var retries = 50

    package init() {}
}
