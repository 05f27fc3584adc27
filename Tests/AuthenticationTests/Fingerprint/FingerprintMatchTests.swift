import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// Matches with the real fprintd and a virtual device.
@Suite(.onLoop)
struct FingerprintMatchTests {
    @Test
    func match_enrolledFinger_isMatched() async throws {
        try await FingerprintFixture.run { fixture in
            let outcome = try await fixture.outcome { try await $0.touch("owner") }
            #expect(outcome == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_oneOfSeveralFingers_isMatched() async throws {
        try await FingerprintFixture.run { fixture in
            try await fixture.virtual.enrol("left-thumb", as: "thumb")
            let outcome = try await fixture.outcome { try await $0.touch("thumb") }
            // fprintd does not report the finger when it compares with all.
            #expect(outcome == .matched(finger: ""))
        }
    }

    @Test
    func match_otherFinger_isNotMatched() async throws {
        try await FingerprintFixture.run { fixture in
            let outcome = try await fixture.outcome { try await $0.touch("stranger") }
            #expect(outcome == .notMatched)
        }
    }

    @Test
    func match_readerThatKnowsOneFinger_matchesToo() async throws {
        try await FingerprintFixture.run(.plain) { fixture in
            let outcome = try await fixture.outcome { try await $0.touch("stranger") }
            #expect(outcome == .notMatched)
            let next = try await fixture.outcome { try await $0.touch("owner") }
            #expect(next == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_fiveStrangersThenTheOwner_isToldOneByOne() async throws {
        try await FingerprintFixture.run { fixture in
            for _ in 0..<5 {
                let outcome = try await fixture.outcome { try await $0.touch("stranger") }
                #expect(outcome == .notMatched)
            }
            let outcome = try await fixture.outcome { try await $0.touch("owner") }
            #expect(outcome == .matched(finger: "right-index-finger"))
        }
    }

    @Test(
        arguments: zip(
            VirtualReader.Mistake.allCases,
            [BiometryHint.retry, .swipeTooShort, .notCentered, .removeAndRetry]
        )
    )
    func match_badScan_isHintedAtAndNotCounted(mistake: VirtualReader.Mistake, hint: BiometryHint) async throws {
        try await FingerprintFixture.run { fixture in
            let (match, hints) = fixture.match()
            try await fixture.virtual.touchBadly(mistake)
            _ = try await hints.first("the hint") { $0 == hint }
            try await fixture.virtual.touch("owner")
            #expect(await match.outcome() == .matched(finger: "right-index-finger"))
            #expect(hints.all == [.swipe, hint])
        }
    }

    @Test
    func match_nothingButBadScans_fails() async throws {
        var limits = FingerprintLimits.patient
        limits.retries = 3
        try await FingerprintFixture.run(limits: limits) { fixture in
            let outcome = try await fixture.outcome { virtual in
                for _ in 0..<4 {
                    try await virtual.touchBadly(.unclear)
                }
            }
            #expect(outcome == .failed(.authenticationFailed))
        }
    }

    @Test
    func match_pressReader_asksForATouch() async throws {
        try await FingerprintFixture.run { fixture in
            _ = try await fixture.virtual.withClaim { try await $0.send("SET_SCAN_TYPE press") }
            let (match, hints) = fixture.match()
            try await fixture.virtual.touch("owner")
            #expect(await match.outcome() == .matched(finger: "right-index-finger"))
            #expect(hints.all == [.touch])
        }
    }

    // MARK: The reader fails

    @Test
    func match_noFingerEnrolled_isNotEnrolled() async throws {
        try await FingerprintFixture.run(enrolled: nil) { fixture in
            let outcome = try await fixture.outcome { _ in }
            #expect(outcome == .failed(.biometryNotEnrolled))
        }
    }

    @Test
    func match_unplugged_isDisconnected() async throws {
        try await FingerprintFixture.run { fixture in
            let outcome = try await fixture.outcome { virtual in
                try await virtual.waitUntilReady()
                try await virtual.unplug()
            }
            #expect(outcome == .failed(.biometryDisconnected))
            let next = try await fixture.outcome { _ in }
            #expect(next == .failed(.biometryDisconnected))
        }
    }

    @Test
    func match_protocolError_isDisconnected() async throws {
        try await FingerprintFixture.run { fixture in
            // libfprint's FP_DEVICE_ERROR_PROTO, after which fprintd drops the reader.
            let outcome = try await fixture.outcome { try await $0.fail(5) }
            #expect(outcome == .failed(.biometryDisconnected))
        }
    }

    @Test(arguments: [0, 1, 2, 4, 6, 8])
    func match_driverFailsButReaderStays_isNotAvailableAndTheNextMatchWorks(error: Int) async throws {
        try await FingerprintFixture.run { fixture in
            let outcome = try await fixture.outcome { try await $0.fail(error) }
            #expect(outcome == .failed(.biometryNotAvailable))
            let next = try await fixture.outcome { try await $0.touch("owner") }
            #expect(next == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_polkitRefuses_isNotAvailable() async throws {
        try await FingerprintFixture.run { fixture in
            fixture.virtual.polkit.answer = .refused
            let outcome = try await fixture.outcome { _ in }
            #expect(outcome == .failed(.biometryNotAvailable))
        }
    }

    // MARK: Time and cancellation

    @Test
    func match_nobodyTouches_endsAndGivesTheReaderBack() async throws {
        try await FingerprintFixture.run(limits: .impatient(\.touch)) { fixture in
            let outcome = try await fixture.outcome { _ in }
            #expect(outcome == .failed(.systemCancel))
            try await fixture.waitUntilReleased()
        }
    }

    @Test
    func cancel_whileTheReaderWaits_endsAtOnceAndGivesTheReaderBack() async throws {
        try await FingerprintFixture.run { fixture in
            let (match, hints) = fixture.match()
            _ = try await hints.first("the reader")
            match.cancel()
            match.cancel()
            #expect(await match.outcome() == .failed(.systemCancel))
            try await fixture.waitUntilReleased()
            let outcome = try await fixture.outcome { try await $0.touch("owner") }
            #expect(outcome == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func cancel_atOnce_endsAndGivesTheReaderBack() async throws {
        try await FingerprintFixture.run { fixture in
            let (match, hints) = fixture.match()
            match.cancel()
            #expect(await match.outcome() == .failed(.systemCancel))
            try await fixture.waitUntilReleased()
            #expect(hints.count == 0)
        }
    }

    @Test
    func cancel_afterTheOutcome_changesNothing() async throws {
        try await FingerprintFixture.run { fixture in
            let (match, _) = fixture.match()
            try await fixture.virtual.touch("owner")
            #expect(await match.outcome() == .matched(finger: "right-index-finger"))
            match.cancel()
            #expect(await match.outcome() == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_secondWhileOneWaits_comesAfterIt() async throws {
        try await FingerprintFixture.run { fixture in
            let (first, _) = fixture.match()
            let (second, secondHints) = fixture.match()
            try await fixture.virtual.touch("stranger")
            #expect(await first.outcome() == .notMatched)
            try await fixture.virtual.touch("owner")
            #expect(await second.outcome() == .matched(finger: "right-index-finger"))
            #expect(secondHints.count == 1)
        }
    }

    // MARK: Another program has the reader

    @Test
    func match_readerInUse_waitsForIt() async throws {
        try await FingerprintFixture.run { fixture in
            var match: (any BiometryMatch)?
            try await fixture.virtual.withClaim { virtual in
                let count = virtual.polkit.questions.count
                match = fixture.match().match
                // The last visible step before the reader finds the device in use.
                _ = try await virtual.polkit.questions.first("the match", after: count)
            }
            try await fixture.virtual.touch("owner")
            #expect(await match?.outcome() == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_readerInUseForLong_ends() async throws {
        try await FingerprintFixture.run(limits: .impatient(\.busy)) { fixture in
            let outcome = try await fixture.virtual.withClaim { _ in try await fixture.outcome { _ in } }
            #expect(outcome == .failed(.systemCancel))
        }
    }

    @Test
    func cancel_whileAnotherHasTheReader_endsAtOnce() async throws {
        try await FingerprintFixture.run { fixture in
            try await fixture.virtual.withClaim { _ in
                let (match, _) = fixture.match()
                match.cancel()
                #expect(await match.outcome() == .failed(.systemCancel))
            }
        }
    }

    // MARK: fprintd and the bus go

    @Test
    func match_fprintdDies_isDisconnectedAndTheNextMatchWorks() async throws {
        try await FingerprintFixture.run(.plain) { fixture in
            let outcome = try await fixture.outcome { virtual in
                try await virtual.waitUntilReady()
                try await virtual.kill()
            }
            #expect(outcome == .failed(.biometryDisconnected))
            try await fixture.virtual.start()
            let next = try await fixture.outcome { try await $0.touch("owner") }
            #expect(next == .matched(finger: "right-index-finger"))
        }
    }

    @Test
    func match_busDies_isDisconnected() async throws {
        try await FingerprintFixture.run { fixture in
            let outcome = try await fixture.outcome { virtual in
                try await virtual.waitUntilReady()
                try await virtual.bus.kill()
            }
            #expect(outcome == .failed(.biometryDisconnected))
            // The bus may still be closing.
            let next = try await fixture.outcome { _ in }
            #expect([.failed(.biometryNotAvailable), .failed(.biometryDisconnected)].contains(next))
        }
    }

    @Test
    func match_fprintdHangs_endsAndCanBeCancelled() async throws {
        try await FingerprintFixture.run(limits: .impatient(\.call)) { fixture in
            fixture.virtual.pause()
            let outcome = try await fixture.outcome { _ in }
            #expect(outcome == .failed(.biometryNotAvailable))
            let (match, _) = fixture.match()
            match.cancel()
            #expect(await match.outcome() == .failed(.systemCancel))
        }
    }

    @Test
    @BusActor
    func match_callerDies_readerIsFree() async throws {
        let virtual = try await VirtualReader()
        try await virtual.enrol()
        let system = SystemBus(address: virtual.bus.address, timeout: Patience.limit, logger: .silent)
        let reader = FingerprintReader(bus: system, limits: .patient, logger: .silent)
        let match = reader.match { _ in }
        try await virtual.waitUntilReady()
        // fprintd sees only the end of the connection when a process exits.
        system.close()
        match.cancel()
        try await virtual.enrol("left-thumb", as: "thumb")
    }

    @Test
    func match_ended_isFreedByTheReader() async throws {
        /// Held by nothing but the match.
        final class Probe: Sendable {
            let freed: Recorder<Bool>
            init(_ freed: Recorder<Bool>) { self.freed = freed }
            deinit { freed.record(true) }
            func hint(_: BiometryHint) {}
        }
        try await FingerprintFixture.run { fixture in
            let freed = Recorder<Bool>()
            do {
                let match = fixture.reader.match(hint: Probe(freed).hint)
                try await fixture.virtual.touch("owner")
                #expect(await match.outcome() == .matched(finger: "right-index-finger"))
            }
            _ = try await freed.first("the end of the match") { $0 }
        }
    }
}

extension FingerprintFixture {
    /// Claims the reader as another program, as soon as it is free.
    func waitUntilReleased() async throws {
        try await eventually("the release of the reader") {
            do throws(BusError) {
                try await virtual.claimOnce()
                return true
            } catch {
                guard error.name.rawValue.hasSuffix("AlreadyInUse") else { throw error }
                return false
            }
        }
    }
}
