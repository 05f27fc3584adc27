package import DBus
package import Desktop
package import Logging

/// The machine's fingerprint reader, driven by fprintd over the system bus.
///
/// That there is no system bus, no fprintd or no reader is the normal case on many machines: it costs nothing, and is
/// asked anew each time, for a reader may be plugged in at any moment.
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
    private var lastMatch: FingerprintMatch?
    private weak var usedClaim: FprintClaim?
    private var keptClaim: KeptClaim?
    private var hasSeenReader = false

    /// A touch or a swipe, whatever the reader was that was found last.
    package private(set) var firstHint = BiometryHint.touch

    /// Creates a reader that does not look for one yet.
    ///
    /// - Parameter templates: where fprintd keeps what it has enrolled.
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

    /// Looks for a reader and for enrolled fingers, within ``FingerprintLimits/availability``.
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
            return .notAvailable(reason: "there is no memory to look at the enrolled fingers")
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

    /// Begins to match the next touch; a match that is still under way comes first.
    package func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch {
        let match = FingerprintMatch(self, limits, hint: hint)
        match.start(after: lastMatch)
        lastMatch = match
        return match
    }

    /// Claims the reader; asked by a match, of which there is one at a time.
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
            logger.debug("no finger can be matched", metadata: ["error": "\(error)"])
            throw AuthenticationError(matching: error)
        }
    }

    // MARK: Between two matches

    /// Keeps a claim for the next match, or gives it back if none comes soon.
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

    /// Hears from now on when the system bus goes; not before there has been one.
    private func followBus() {
        guard !followsBus else { return }
        followsBus = true
        bus.follow { [weak self] connection in
            guard let self, connection == nil else { return }
            usedClaim?.lose()
        }
    }
}

/// How long fprintd, and a person, may take.
package struct FingerprintLimits: Sendable {
    /// For all that ``FingerprintReader/availability()`` asks, starting fprintd included.
    package var availability = Duration.seconds(5)

    /// For one call while a finger is matched; opening a reader may take a second or two.
    package var call = Duration.seconds(10)

    /// How long another program's use of the reader is waited for.
    package var busy = Duration.seconds(5)

    /// How soon a reader that is in use is tried again.
    package var retry = Duration.milliseconds(250)

    /// For a match from the moment when the reader is ready; fprintd itself would wait for a finger for ever.
    package var touch = Duration.seconds(120)

    /// How long the reader is kept after a finger that did not match, for the next match: opening it anew takes a
    /// while.
    package var keep = Duration.milliseconds(500)

    /// How many scans of one match may be no good.
    package var retries = 50

    /// The limits of the daemon.
    package init() {}
}
