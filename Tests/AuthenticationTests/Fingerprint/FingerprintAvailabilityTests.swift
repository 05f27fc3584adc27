import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct FingerprintAvailabilityTests {
    @Test
    func availability_fingerEnrolled_isAvailable() async throws {
        try await FingerprintFixture.run { fixture in
            let set = try #require(await fixture.reader.availability().set)
            #expect(set.hash.count == 32)
            #expect(await fixture.reader.availability() == .available(set))
            #expect(fixture.reader.firstHint == .swipe)
        }
    }

    @Test
    func availability_noFingerEnrolled_isNotEnrolled() async throws {
        try await FingerprintFixture.run(enrolled: nil) { fixture in
            #expect(await fixture.reader.availability() == .notEnrolled)
            try await fixture.virtual.enrol()
            #expect(await fixture.reader.availability().set != nil)
            try await fixture.virtual.delete()
            #expect(await fixture.reader.availability() == .notEnrolled)
        }
    }

    @Test
    func availability_whileAnotherProgramHasTheReader_isAvailable() async throws {
        try await FingerprintFixture.run { fixture in
            let set = try await fixture.virtual.withClaim { _ in await fixture.reader.availability().set }
            #expect(set != nil)
        }
    }

    @Test
    func availability_polkitRefuses_isNotAvailable() async throws {
        try await FingerprintFixture.run { fixture in
            fixture.virtual.polkit.answer = .refused
            #expect(await fixture.reader.availability().error?.code == .biometryNotAvailable)
        }
    }

    @Test
    func availability_unplugged_isDisconnected() async throws {
        try await FingerprintFixture.run { fixture in
            #expect(await fixture.reader.availability().set != nil)
            try await fixture.virtual.withClaim { try await $0.unplug() }
            #expect(await fixture.reader.availability() == .disconnected)
        }
    }

    @Test
    @BusActor
    func availability_noFprintd_isNotAvailable() async throws {
        let bus = try await PrivateBus()
        let system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let reader = FingerprintReader(bus: system, limits: .patient, logger: .silent)
        #expect(await reader.availability() == .notAvailable(reason: "fprintd is not installed"))
        #expect(await reader.match { _ in }.outcome() == .failed(.biometryNotAvailable))
    }

    @Test
    @BusActor
    func availability_noSystemBus_isNotAvailable() async throws {
        let system = SystemBus(address: "unix:path=/nonexistent/bus", timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let reader = FingerprintReader(bus: system, limits: .patient, logger: .silent)
        #expect(await reader.availability().error?.code == .biometryNotAvailable)
        #expect(await reader.match { _ in }.outcome() == .failed(.biometryNotAvailable))
    }

    @Test
    func availability_fprintdHangs_isNotAvailable() async throws {
        try await FingerprintFixture.run(limits: .impatient(\.availability)) { fixture in
            fixture.virtual.pause()
            #expect(await fixture.reader.availability() == .notAvailable(reason: "fprintd does not answer"))
            fixture.virtual.resume()
        }
    }

    @Test
    func availability_fprintdRestarted_isAvailableAgain() async throws {
        try await FingerprintFixture.run(.plain) { fixture in
            let before = await fixture.reader.availability()
            try await fixture.virtual.kill()
            #expect(await fixture.reader.availability().error?.code == .biometryNotAvailable)
            try await fixture.virtual.start()
            #expect(await fixture.reader.availability() == before)
        }
    }

    // MARK: The set

    @Test
    func set_anotherFingerEnrolled_isAnother() async throws {
        try await FingerprintFixture.run { fixture in
            let before = await fixture.reader.availability().set
            try await fixture.virtual.enrol("left-thumb", as: "thumb")
            let with = await fixture.reader.availability().set
            try await fixture.virtual.delete("left-thumb")
            let after = await fixture.reader.availability().set
            #expect(before != with)
            #expect(before == after)
        }
    }

    @Test
    func set_sameFingerEnrolledAgain_isAnotherWhereTheTemplatesCanBeRead() async throws {
        try await FingerprintFixture.run { fixture in
            let before = await fixture.reader.availability().set
            try await fixture.virtual.delete()
            try await fixture.virtual.enrol(as: "somebody else")
            let after = await fixture.reader.availability().set
            #expect(before != nil && after != nil)
            #expect(before != after)
        }
    }

    @Test
    func set_fingerMatched_staysTheSame() async throws {
        try await FingerprintFixture.run { fixture in
            let before = await fixture.reader.availability().set
            _ = try await fixture.outcome { try await $0.touch("owner") }
            #expect(await fixture.reader.availability().set == before)
        }
    }
}
