import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging

/// The tested reader on the real fprintd with a virtual device.
@BusActor
final class FingerprintFixture {
    let virtual: VirtualReader
    let reader: FingerprintReader
    private let system: SystemBus

    private init(_ virtual: VirtualReader, _ limits: FingerprintLimits) {
        self.virtual = virtual
        system = SystemBus(
            address: virtual.bus.address,
            timeout: Patience.limit,
            pause: .milliseconds(1),
            logger: .silent
        )
        reader = FingerprintReader(
            bus: system,
            templates: TemplateStore(path: virtual.templates),
            limits: limits,
            logger: .silent
        )
    }

    private nonisolated static let turnstile = Turnstile(places: 8)

    /// - Parameters:
    ///   - enrolled: the finger enrolled as `owner`; nil for none.
    ///   - limits: longer than a test runs, unless the test is about a limit.
    nonisolated static func run(
        _ kind: VirtualReader.Kind = .storing,
        enrolled: String? = "right-index-finger",
        limits: FingerprintLimits = .patient,
        _ body: @BusActor (FingerprintFixture) async throws -> Void
    ) async throws {
        // Each fixture runs a bus and a service, too many for a small machine if all tests start at once.
        await turnstile.enter()
        defer { turnstile.leave() }
        let virtual = try await VirtualReader(kind)
        if let enrolled {
            try await virtual.enrol(enrolled)
        }
        try await run(with: virtual, limits, body)
    }

    private static func run(
        with virtual: VirtualReader,
        _ limits: FingerprintLimits,
        _ body: @BusActor (FingerprintFixture) async throws -> Void
    ) async throws {
        let fixture = FingerprintFixture(virtual, limits)
        defer { fixture.system.close() }
        try await body(fixture)
    }

    /// Starts a match and records its hints.
    func match() -> (match: any BiometryMatch, hints: Recorder<BiometryHint>) {
        let hints = Recorder<BiometryHint>()
        return (reader.match { hints.record($0) }, hints)
    }

    /// Starts a match, performs the person's actions, and waits for the outcome.
    func outcome(_ person: (VirtualReader) async throws -> Void) async throws -> BiometryOutcome {
        let (match, _) = match()
        try await person(virtual)
        return await match.outcome()
    }
}

extension FingerprintLimits {
    /// Limits longer than a successful test.
    static var patient: FingerprintLimits {
        var limits = FingerprintLimits()
        limits.availability = .seconds(300)
        limits.call = .seconds(300)
        limits.busy = .seconds(300)
        limits.retry = .milliseconds(1)
        limits.touch = .seconds(300)
        return limits
    }

    /// Patient limits except one.
    static func impatient(_ limit: WritableKeyPath<FingerprintLimits, Duration>) -> FingerprintLimits {
        var limits = patient
        limits[keyPath: limit] = .milliseconds(50)
        return limits
    }
}

extension BiometryOutcome {
    static func failed(_ code: AuthenticationError.Code) -> BiometryOutcome {
        .failed(AuthenticationError(code, reason: ""))
    }
}
