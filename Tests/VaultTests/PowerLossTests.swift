import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Power failures: the disk may hold any part of a write that was not acknowledged.
@VaultActor
@Suite struct PowerLossTests {
    /// The contents after each change, by item ID.
    private typealias History = [[UInt64: String]]

    /// Makes changes; returns a copy of the folder with its journal, and all intermediate states.
    private func prepare() async throws -> (TemporaryFolder, History) {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder, pauses: false))
        let login = try await vault.unlockedLogin()
        let file = try folder.bytes(of: "login.keychain")
        var history: History = [[:]]
        var now: [UInt64: String] = [:]
        for number in 0..<6 {
            let secret = number == 3 ? String(repeating: "long", count: 3000) : "secret \(number)"
            now[try await login.add("x", ["n": "\(number)"], secret: secret).rawValue] = secret
            history.append(now)
        }
        let first = try #require(login.itemIDs.first)
        try await login.updateItem(first, secret: Fixture.secret("updated"))
        now[first.rawValue] = "updated"
        history.append(now)
        let second = login.itemIDs[1]
        try await login.deleteItem(second)
        now[second.rawValue] = nil
        history.append(now)
        let copy = try folder.snapshot()
        try #require(try copy.bytes(of: "login.keychain") == file)
        await vault.close()
        return (copy, history)
    }

    /// Returns the used part of the journal; it is longer and ends with zeros.
    private func journal(in folder: TemporaryFolder) throws -> [UInt8] {
        let bytes = try folder.bytes(of: "login.keychain-wal")
        let used = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        return Array(bytes.prefix(32 + (used - 32 + 4119) / 4120 * 4120))
    }

    /// Opens a vault in a copy of a folder; it must be intact and hold one of the intermediate states.
    private func found(in crashed: TemporaryFolder, _ history: History, _ what: String) async throws -> Int? {
        let folder = try crashed.snapshot()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        var contents: [UInt64: String] = [:]
        for id in login.itemIDs {
            contents[id.rawValue] = String(decoding: try await login.content(of: id), as: UTF8.self)
        }
        let state = history.firstIndex(of: contents)
        #expect(state != nil, "\(what): neither an old state nor a new one")
        #expect(login.problem == nil, "\(what)")
        // It can still be changed.
        let id = try await login.add("after", ["after": "yes"])
        #expect(login.search(["after": "yes"]) == [id])
        await vault.close()
        return state
    }

    @Test func truncatedJournal_givesAnAcknowledgedState_laterWithMoreOfIt() async throws {
        let (crashed, history) = try await prepare()
        let journal = try journal(in: crashed)
        let file = try crashed.bytes(of: "login.keychain")
        crashed.remove("login.keychain-shm")
        var last = 0
        // Every 512 bytes, as a disk writes, and around the ends of the frames (24 + 4096 bytes after a header of 32).
        var sizes = Set(stride(from: 0, through: journal.count, by: 512))
        for end in stride(from: 32, through: journal.count, by: 4120) {
            sizes.formUnion([end - 1, end, end + 1, end + 24])
        }
        let all = sizes.sorted().filter { size in size < journal.count }
        for size in all.sample(oneIn: 4) + [journal.count] {
            try crashed.write(file, to: "login.keychain")
            try crashed.write(Array(journal.prefix(size)), to: "login.keychain-wal")
            let state = try await found(in: crashed, history, "journal of \(size) bytes") ?? 0
            #expect(state >= last, "journal of \(size) bytes")
            last = state
        }
        #expect(last == history.count - 1)
    }

    @Test func reservedJournal_trailingZerosOrOldFrames_areIgnored() async throws {
        let (crashed, history) = try await prepare()
        let journal = try journal(in: crashed)
        let whole = try crashed.bytes(of: "login.keychain-wal")
        let file = try crashed.bytes(of: "login.keychain")
        #expect(whole.count > 1 << 20)
        let zeros = [UInt8](repeating: 0, count: whole.count)
        // Frames of an older journal differ in their salts.
        var older = journal
        for frame in stride(from: 32, to: older.count, by: 4120) { older[frame + 8] ^= 0xff }
        for end in stride(from: 32, through: journal.count, by: 4120) {
            for rest in [zeros, older + zeros] {
                crashed.remove("login.keychain-shm")
                try crashed.write(file, to: "login.keychain")
                let kept = Array(journal.prefix(end)) + rest[end...].prefix(whole.count - end)
                try crashed.write(kept, to: "login.keychain-wal")
                let state = try await found(in: crashed, history, "journal of \(end) bytes, then others")
                #expect(end < journal.count || state == history.count - 1)
            }
        }
    }

    @Test func reservedJournal_isOverwritten_andRemovedAtClose() async throws {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add("first")
        try await login.add("second")
        let size = try folder.bytes(of: "login.keychain-wal").count
        #expect(size > 1 << 20)
        for number in 0..<300 { try await login.add("x", ["n": "\(number)"]) }
        #expect(try folder.bytes(of: "login.keychain-wal").count == size)
        await vault.close()
        #expect(!folder.names.contains("login.keychain-wal"))
        let again = try await Vault.opened(Fixture.configuration(folder))
        #expect(try await again.unlockedLogin().itemCount == 302)
        await again.close()
    }

    /// The ends of the commits in a journal.
    private func commits(in journal: [UInt8]) -> [Int] {
        stride(from: 32, to: journal.count, by: 4120).filter { frame in
            journal[frame + 4..<frame + 8].contains { $0 != 0 }
        }.map { frame in frame + 4120 }
    }

    /// Returns a journal of which one block has zeros, or its old contents.
    private func losing(
        blockAfter start: Int,
        before end: Int,
        of journal: [UInt8],
        round: Int,
        using generator: inout SeededGenerator
    ) -> [UInt8] {
        var torn = journal
        // Some blocks have zeros anyway.
        while torn == journal {
            let block = Int.random(in: (start + 511) / 512..<end / 512, using: &generator) * 512
            for index in block..<min(block + 512, torn.count) {
                torn[index] = round % 2 == 0 ? 0 : UInt8.random(in: 0...255, using: &generator)
            }
        }
        return torn
    }

    @Test(arguments: 0..<4)
    func tornJournal_givesAnAcknowledgedState(seed: UInt64) async throws {
        let (crashed, history) = try await prepare()
        let journal = try journal(in: crashed)
        let file = try crashed.bytes(of: "login.keychain")
        let lastButOne = try #require(commits(in: journal).dropLast().last)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<15 {
            let torn = losing(
                blockAfter: lastButOne,
                before: journal.count,
                of: journal,
                round: round,
                using: &generator
            )
            crashed.remove("login.keychain-shm")
            try crashed.write(file, to: "login.keychain")
            try crashed.write(torn, to: "login.keychain-wal")
            #expect(try await found(in: crashed, history, "round \(round)") == history.count - 2)
        }
    }

    @Test(arguments: 0..<4)
    func damagedJournal_isTold_andWhatIsBehindIsReadAndKept(seed: UInt64) async throws {
        let (crashed, history) = try await prepare()
        let journal = try journal(in: crashed)
        let file = try crashed.bytes(of: "login.keychain")
        let end = try #require(commits(in: journal).dropLast(2).last)
        let last = try #require(history.last)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<15 {
            let damaged = losing(blockAfter: 0, before: end, of: journal, round: round, using: &generator)
            crashed.remove("login.keychain-shm")
            try crashed.write(file, to: "login.keychain")
            try crashed.write(damaged, to: "login.keychain-wal")
            let vault = try await Vault.opened(Fixture.configuration(crashed))
            let login = try await vault.unlockedLogin()
            #expect(login.problem?.contains("its journal is damaged") == true, "round \(round)")
            await #expect(throws: VaultError.of(.unreadable)) { try await login.add("new") }
            #expect(try await !vault.check("keychain:login", nil).isSound)
            // Each commit has the page with the items; only that of the long secret may be lost.
            var lost = last
            for id in login.itemIDs {
                guard let content = try? await login.content(of: id) else { continue }
                #expect(lost.removeValue(forKey: id.rawValue) == String(decoding: content, as: UTF8.self))
            }
            #expect(lost.values.allSatisfy { secret in secret.hasPrefix("long") }, "round \(round): \(lost.keys)")
            #expect(try crashed.bytes(of: "login.keychain-wal") == damaged)
            let (report, new) = try await vault.salvage(login)
            #expect(report.kept == last.count - lost.count && new.problem == nil)
            await vault.close()
            for name in crashed.names where name.contains("unreadable") { crashed.remove(name) }
        }
    }

    @Test func journalOfAnotherFile_isNotAccepted() async throws {
        let (crashed, _) = try await prepare()
        let journal = try crashed.bytes(of: "login.keychain-wal")
        let other = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(other))
        try await vault.unlockedLogin().add("theirs")
        await vault.close()
        try other.write(journal, to: "login.keychain-wal")
        let confused = try await Vault.opened(Fixture.configuration(other))
        let login = try #require(confused.collection(named: .login))
        _ = try? await login.unlock(with: Fixture.bytes(Fixture.password))
        if login.state == .unlocked {
            let isWhole = login.itemIDs.count == 1 && login.problem == nil
            #expect(isWhole || login.problem != nil)
        }
        await confused.close()
    }

    @Test func fullDiskAtEveryPage_changesAreAtomic() async throws {
        for pages in stride(from: 8, through: 40, by: 2).sample(oneIn: 3) {
            let folder = TemporaryFolder()
            let vault = try await Vault.opened(Fixture.configuration(folder, maximumPages: pages))
            let login = try await vault.unlockedLogin()
            var kept: [ItemID: String] = [:]
            for number in 0..<30 {
                let secret = String(repeating: "\(number % 10)", count: number % 4 == 0 ? 6000 : 100)
                do {
                    switch number % 3 {
                    case 2:
                        guard let id = kept.keys.max() else { continue }
                        try await login.updateItem(id, secret: Fixture.secret(secret))
                        kept[id] = secret
                    default:
                        kept[try await login.add("x", ["n": "\(number)"], secret: secret)] = secret
                    }
                } catch let error as VaultError {
                    #expect(error.code == .storageFull, "\(pages) pages: \(error)")
                }
            }
            #expect(login.itemIDs == kept.keys.sorted(), "\(pages) pages")
            await vault.close()
            let reopened = try await Vault.opened(Fixture.configuration(folder))
            let again = try await reopened.unlockedLogin()
            #expect(again.itemIDs == kept.keys.sorted(), "\(pages) pages")
            for (id, secret) in kept { #expect(try await again.content(of: id) == Array(secret.utf8)) }
            #expect(again.problem == nil, "\(pages) pages")
            await reopened.close()
        }
    }
}
