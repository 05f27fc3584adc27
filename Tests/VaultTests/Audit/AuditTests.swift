import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

@VaultActor
@Suite struct AuditTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder, clock: clock))
    }

    private func entry(_ outcome: String, kind: AuditEntry.Kind = .release) -> AuditEntry {
        AuditEntry(
            time: clock.now,
            kind: kind,
            caller: ":1.7 /usr/bin/secret-tool (pid 12)",
            item: "/org/freedesktop/secrets/collection/login/1",
            policy: "biometryAny or passcode",
            outcome: outcome
        )
    }

    @Test func entries_areReadNewestFirst_andSurviveReopening() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        let entries = AuditEntry.Kind.allCases.map { kind in entry("outcome ☃ \(kind)", kind: kind) }
        for entry in entries { vault.audit(entry) }
        #expect(try await vault.auditEntries() == entries.reversed())
        await vault.close()
        vault = try await opened()
        await #expect(throws: VaultError.of(.locked)) { _ = try await vault.auditEntries() }
        let login = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries() == entries.reversed())
        login.lock()
        vault.audit(entry("while locked again"))
        #expect(try await vault.auditEntries().count == entries.count + 1)
        await vault.close()
    }

    @Test func entryWithAPlace_replacesTheOneThere() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        let places = [AuditPlace(), AuditPlace()]
        for ring in AuditRing.allCases { vault.audit(entry("first"), in: ring) }
        for number in 2...5 {
            vault.audit(entry("× \(number)"), in: .unattended, at: places[0])
            vault.audit(entry("… × \(number)"), in: .attended, at: places[1])
            // Some replace entries on the disk, others such as wait for it.
            if number.isMultiple(of: 2) { try await vault.syncAudit() }
        }
        let expected = ["… × 5", "× 5", "first", "first"]
        #expect(try await vault.auditEntries().map(\.outcome) == expected)
        await vault.close()
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries().map(\.outcome) == expected)
        await vault.close()
    }

    @Test func entriesBeforeTheFirstUnlock_areWrittenAfterIt() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        await vault.close()
        vault = try await opened()
        vault.audit(entry("early", kind: .denial))
        _ = try await vault.unlockedLogin()
        vault.audit(entry("late"))
        await vault.close()
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries().map(\.outcome) == ["late", "early"])
        await vault.close()
    }

    @Test func reading_byTimeAndNumber() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        for number in 0..<10 {
            vault.audit(entry("\(number)"))
            clock.advance(seconds: 10)
        }
        let since = Timestamp(microsecondsSinceEpoch: clock.now.microsecondsSinceEpoch - 30_000_000)
        #expect(try await vault.auditEntries(since: since).map(\.outcome) == ["9", "8", "7"])
        #expect(try await vault.auditEntries(since: since, limit: 2).map(\.outcome) == ["9", "8"])
        #expect(try await vault.auditEntries(limit: 1).map(\.outcome) == ["9"])
        #expect(try await vault.auditEntries(limit: 0).isEmpty)
        #expect(try await vault.auditEntries(limit: -1).isEmpty)
        await vault.close()
    }

    @Test func clockSetBack_entriesAreFound() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let noon = clock.now
        vault.audit(entry("noon"))
        clock.advance(seconds: -3600)
        vault.audit(entry("eleven"))
        #expect(try await vault.auditEntries(since: noon).map(\.outcome) == ["noon"])
        await vault.close()
    }

    @Test(arguments: AuditRing.allCases)
    func ring_keepsItsNewest_andLeavesTheOtherRingAlone(ring: AuditRing) async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        for other in AuditRing.allCases where other != ring { vault.audit(entry("other"), in: other) }
        for number in 1...ring.capacity + 500 {
            vault.audit(entry("\(number)"), in: ring)
            // Reading waits for the writer, so no entry is dropped.
            if number % 1000 == 0 { _ = try await vault.auditEntries(limit: 1) }
        }
        let entries = try await vault.auditEntries()
        let expected = (501...ring.capacity + 500).reversed().map { "\($0)" }
        #expect(entries.map(\.outcome) == expected + ["other"])
        await vault.close()
    }

    @Test func rings_areReadInOrder() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        for number in 1...6 {
            vault.audit(entry("\(number)"), in: number.isMultiple(of: 2) ? .attended : .unattended)
            if number == 3 { _ = try await vault.auditEntries(limit: 1) }
        }
        #expect(try await vault.auditEntries().map(\.outcome) == ["6", "5", "4", "3", "2", "1"])
        #expect(try await vault.auditEntries(limit: 2).map(\.outcome) == ["6", "5"])
        await vault.close()
    }

    @Test func tooManyPendingEntries_leaveRoomForTheOtherRing() async throws {
        let vault = try await opened()
        for number in 0..<2500 { vault.audit(entry("\(number)", kind: .denial), in: .unattended) }
        vault.audit(entry("release"))
        _ = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries(limit: 2).map(\.outcome) == ["500 entries were lost", "release"])
        await vault.close()
    }

    @Test func tooManyPendingEntries_areCountedAsLost() async throws {
        let vault = try await opened()
        for number in 0..<2500 { vault.audit(entry("\(number)")) }
        _ = try await vault.unlockedLogin()
        let entries = try await vault.auditEntries()
        #expect(entries.count == 2001)
        #expect(entries.first?.kind == .lost)
        #expect(entries.first?.outcome == "500 entries were lost")
        #expect(entries.last?.outcome == "0")
        await vault.close()
    }

    @Test func syncAudit_isOnTheDisk() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        vault.audit(entry("written"))
        try await vault.syncAudit()
        let copy = try folder.snapshot()
        await vault.close()
        let reopened = try await Vault.opened(Fixture.configuration(copy, clock: clock))
        _ = try await reopened.unlockedLogin()
        #expect(try await reopened.auditEntries().map(\.outcome) == ["written"])
        await reopened.close()
    }

    @Test func syncAudit_beforeLogin_takesTheKeyOfAnotherKeychain() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        let name = try await vault.createCollection(label: "Work", password: Fixture.bytes("work")).name
        await vault.close()
        vault = try await opened()
        vault.audit(entry("early"))
        await #expect(throws: VaultError.of(.locked)) { try await vault.syncAudit() }
        try await #require(vault.collection(named: name)).unlock(with: Fixture.bytes("work"))
        try await vault.syncAudit()
        await vault.close()
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries() == [])
        try await #require(vault.collection(named: name)).unlock(with: Fixture.bytes("work"))
        #expect(try await vault.auditEntries().map(\.outcome) == ["early"])
        await vault.close()
    }

    @Test func longTexts_areTruncated() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        let long = String(repeating: "☃", count: 100_000)
        vault.audit(AuditEntry(time: clock.now, kind: .denial, caller: long, item: long, policy: long, outcome: long))
        let entry = try #require(try await vault.auditEntries().first)
        for text in [entry.caller, entry.item, entry.policy, entry.outcome] {
            #expect(text.hasPrefix("☃☃☃"))
            #expect(text.utf8.count <= AuditEntry.maximumTextBytes)
        }
        await vault.close()
    }

    @Test func entries_areNotReadableOnTheDisk() async throws {
        let vault = try await opened()
        _ = try await vault.unlockedLogin()
        vault.audit(entry("particular"))
        _ = try await vault.auditEntries()
        await vault.close()
        let text = String(decoding: try folder.bytes(of: "state"), as: UTF8.self)
        for part in ["particular", "secret-tool", "collection/login", "biometryAny"] { #expect(!text.contains(part)) }
    }

    @Test(arguments: ["secret", "header", "another entry's"])
    func spoiledEntry_isLeftOut_othersAreRead(part: String) async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        for number in 1...3 { vault.audit(entry("\(number)")) }
        await vault.close()
        try folder.tamper("state") { image in
            let (frame, other) = (try image.last(2, 2), try image.last(2, 3))
            switch part {
            case "secret": image.flip(frame.secret.lowerBound)
            case "header": image.flip(frame.range.lowerBound + 60)
            default: image.bytes.replaceSubrange(frame.secret, with: image.bytes[other.secret])
            }
        }
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        #expect(try await vault.auditEntries().map(\.outcome) == ["3", "1"])
        vault.audit(entry("4"))
        #expect(try await vault.auditEntries().map(\.outcome) == ["4", "3", "1"])
        await vault.close()
    }

    @Test func newLogin_cannotReadEarlierEntries() async throws {
        let vault = try await opened()
        let login = try await vault.unlockedLogin()
        vault.audit(entry("old"))
        _ = try await vault.auditEntries()
        try await vault.delete(login)
        _ = try await vault.unlockedLogin("other")
        vault.audit(entry("new"))
        #expect(try await vault.auditEntries().map(\.outcome) == ["new"])
        await vault.close()
    }

    @Test func readOnlyFolder_entriesStayInMemory() async throws {
        var vault = try await opened()
        _ = try await vault.unlockedLogin()
        vault.audit(entry("stored"))
        await vault.close()
        try folder.makeReadOnly()
        defer { folder.makeWritable() }
        vault = try await opened()
        _ = try await vault.unlockedLogin()
        vault.audit(entry("new"))
        #expect(try await vault.auditEntries().map(\.outcome) == ["new", "stored"])
        #expect(try await vault.auditEntries(limit: 1).map(\.outcome) == ["new"])
        await vault.close()
    }

    @Test func closedVault_ignoresEntries() async throws {
        let vault = try await opened()
        await vault.close()
        vault.audit(entry("x"))
        await #expect(throws: VaultError.of(.storageFailed)) { _ = try await vault.auditEntries() }
    }
}

extension Vault {
    /// Records an attended entry.
    fileprivate func audit(_ entry: AuditEntry) {
        audit(entry, in: .attended)
    }
}
