import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// Services that send garbage, answer late or never, and programs that impersonate the service.
@Suite(.onLoop)
struct FingerprintServiceTests {
    /// Runs the test with a service that misbehaves.
    @BusActor
    private func withService(
        _ answers: [String: FakeFprintd.Answer] = [:],
        limits: FingerprintLimits = .patient,
        _ body: @BusActor (FakeFprintd, FingerprintReader, PrivateBus) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let service = try FakeFprintd(on: bus, answers)
        let system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
        let templates = TemplateStore(path: "/nonexistent")
        let reader = FingerprintReader(bus: system, templates: templates, limits: limits, logger: .silent)
        try await body(service, reader, bus)
        system.close()
        service.crash()
    }

    // MARK: Availability

    @Test(
        arguments: [
            ["GetDevices": .garbage], ["ListEnrolledFingers": .garbage], ["GetAll": .garbage],
            ["GetDevices": .error("net.reactivated.Fprint.Error.Internal")], ["GetDevices": .crash],
            ["ListEnrolledFingers": .crash], ["ListEnrolledFingers": .error("org.example.Unknown")],
        ] as [[String: FakeFprintd.Answer]]
    )
    @BusActor
    func availability_serviceMisbehaves_isNotAvailable(answers: [String: FakeFprintd.Answer]) async throws {
        try await withService(answers) { _, reader, _ in
            let error = await reader.availability().error
            #expect(error?.code == .biometryNotAvailable)
        }
    }

    @Test(arguments: ["GetDevices", "ListEnrolledFingers", "GetAll"])
    @BusActor
    func availability_noAnswer_isNotAvailable(member: String) async throws {
        try await withService([member: .nothing], limits: .impatient(\.availability)) { _, reader, _ in
            let availability = await reader.availability()
            #expect(availability == .notAvailable(reason: "fprintd does not answer"))
        }
    }

    // MARK: Matching

    @Test(arguments: ["GetDevices", "ListEnrolledFingers", "GetAll", "Claim", "VerifyStart"])
    @BusActor
    func match_noAnswer_endsAndGivesTheReaderBack(member: String) async throws {
        try await withService([member: .nothing], limits: .impatient(\.call)) { service, reader, _ in
            let outcome = await reader.match { _ in }.outcome()
            #expect(outcome == .failed(.biometryNotAvailable))
            // An unanswered claim may have succeeded. On a slow machine the match ends before it claims.
            if service.calls.all.contains("Claim") {
                _ = try await service.calls.first("the release") { $0 == "Release" }
            }
        }
    }

    @Test
    @BusActor
    func match_stopAndReleaseAreNotAnswered_outcomeIsToldAllTheSame() async throws {
        try await withService(["VerifyStop": .nothing, "Release": .nothing]) { service, reader, _ in
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            service.signal("verify-match")
            let outcome = await match.outcome()
            #expect(outcome == .matched(finger: ""))
        }
    }

    @Test(
        arguments: [
            ("verify-match", false), ("verify-no-match", false), ("verify-retry-scan", true), ("", true),
            ("match", false),
            ("verify-something-new", true),
        ]
    )
    @BusActor
    func match_statusIsNoneOfTheInterface_isNotAvailable(status: String, isDone: Bool) async throws {
        try await withService { service, reader, _ in
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            service.signal(status, isDone: isDone)
            let outcome = await match.outcome()
            #expect(outcome == .failed(.biometryNotAvailable))
        }
    }

    @Test
    @BusActor
    func match_newKindOfBadScan_isARetry() async throws {
        try await withService { service, reader, _ in
            let hints = Recorder<BiometryHint>()
            let match = reader.match { hints.record($0) }
            _ = try await hints.first("the reader") { $0 == .touch }
            service.signal("verify-too-fast", isDone: false)
            _ = try await hints.first("the retry") { $0 == .retry }
            service.signal("verify-no-match")
            let outcome = await match.outcome()
            #expect(outcome == .notMatched)
        }
    }

    @Test
    @BusActor
    func match_signalWithOtherArguments_isIgnored() async throws {
        try await withService { service, reader, _ in
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            service.signalGarbage()
            service.signal("verify-no-match")
            let outcome = await match.outcome()
            #expect(outcome == .notMatched)
        }
    }

    @Test
    @BusActor
    func match_serviceCrashes_isDisconnected() async throws {
        try await withService { service, reader, _ in
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            service.crash()
            let outcome = await match.outcome()
            #expect(outcome == .failed(.biometryDisconnected))
        }
    }

    // MARK: Somebody else

    @Test
    @BusActor
    func match_signalOfAnotherProgram_isIgnored() async throws {
        try await withService { service, reader, bus in
            let forger = try bus.connect()
            defer { forger.close() }
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            forger.send(FakeFprintd.verifyStatus("verify-match", isDone: true))
            // The bus answers after it has forwarded the signal.
            _ = try await forger.owner(of: "org.freedesktop.DBus")
            service.signal("verify-no-match")
            let outcome = await match.outcome()
            #expect(outcome == .notMatched)
        }
    }

    @Test
    @BusActor
    func match_signalBeforeTheVerification_isIgnored() async throws {
        try await withService(["VerifyStart": .nothing]) { service, reader, _ in
            let match = reader.match { _ in }
            service.signal("verify-match")
            _ = try await service.calls.first("the claim") { $0 == "VerifyStart" }
            match.cancel()
            let outcome = await match.outcome()
            #expect(outcome == .failed(.systemCancel))
        }
    }

    @Test
    @BusActor
    func match_nameTakenByAnotherProgram_isDisconnectedAndItsSignalsAreIgnored() async throws {
        try await withService { service, reader, bus in
            let match = reader.match { _ in }
            _ = try await service.calls.first("the verification") { $0 == "VerifyStart" }
            service.crash()
            let other = try FakeFprintd(on: bus)
            other.signal("verify-match")
            let outcome = await match.outcome()
            #expect(outcome == .failed(.biometryDisconnected))
            other.crash()
        }
    }
}
