import Foundation
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Damage up to the end of a journal, which SQLite takes for a commit that a crash has ended.
@VaultActor
@Suite struct JournalEndTests {
    private nonisolated static let frameSize = 24 + 4096
    private nonisolated static let state = "state.db"
    private nonisolated static let names = ["login.keychain", "login.keychain-wal", "login.keychain-shm"]

    /// A crash after several changes, all of them acknowledged.
    private struct Crash {
        let folder: TemporaryFolder
        /// The folder as the crash has left it.
        let original: TemporaryFolder
        let file: [UInt8]
        let journal: [UInt8]
        /// The index of the journal after each change.
        let indexes: [[UInt8]]
        /// The contents after each change, by item ID.
        let history: [[UInt64: String]]

        /// The ends of the frames that commit.
        var commits: [Int] {
            stride(from: 32, to: journal.count, by: frameSize).filter { frame in
                journal[frame + 4..<frame + 8].contains { $0 != 0 }
            }.map { frame in frame + frameSize }
        }

        func restore(journal: [UInt8], index: [UInt8]?) throws {
            for name in folder.names where name.hasPrefix("login.keychain") || name.hasPrefix(state) {
                folder.remove(name)
            }
            for name in original.names where name.hasPrefix(state) {
                try folder.write(original.bytes(of: name), to: name)
            }
            try folder.write(file, to: names[0])
            try folder.write(journal, to: names[1])
            if let index { try folder.write(index, to: names[2]) }
        }
    }

    private func crash(changes: Int = 4) async throws -> Crash {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder, pauses: false))
        let login = try await vault.unlockedLogin()
        let file = try folder.bytes(of: Self.names[0])
        var now: [UInt64: String] = [:]
        var history = [now]
        var indexes: [[UInt8]] = []
        for number in 0..<changes {
            let secret = "secret \(number)"
            now[try await login.add("x", ["n": "\(number)"], secret: secret).rawValue] = secret
            indexes.append(try folder.bytes(of: Self.names[2]))
            history.append(now)
        }
        let copy = try folder.snapshot()
        let bytes = try copy.bytes(of: Self.names[1])
        let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        let journal = Array(bytes.prefix(32 + (used - 32 + Self.frameSize - 1) / Self.frameSize * Self.frameSize))
        try #require(try copy.bytes(of: Self.names[0]) == file)
        await vault.close()
        return Crash(
            folder: copy,
            original: try copy.snapshot(),
            file: file,
            journal: journal,
            indexes: indexes,
            history: history
        )
    }

    /// The contents of `login`, and what is said about it.
    private func contents(_ crash: Crash) async throws -> (items: [UInt64: String], problem: String?) {
        let vault = try await Vault.opened(Fixture.configuration(crash.folder))
        let login = try await vault.unlockedLogin()
        var items: [UInt64: String] = [:]
        for id in login.itemIDs {
            guard let content = try? await login.content(of: id) else { continue }
            items[id.rawValue] = String(decoding: content, as: UTF8.self)
        }
        let problem = login.problem
        if problem == nil {
            try await login.add("after")
        } else {
            await #expect(throws: VaultError.of(.unreadable)) { try await login.add("after") }
        }
        await vault.close()
        return (items, problem)
    }

    @Test(arguments: [512, 4096]) func damagedBlock_anywhere_isTold(size: Int) async throws {
        let crash = try await crash()
        let last = try #require(crash.history.last)
        let index = try #require(crash.indexes.last)
        for block in stride(from: 0, to: crash.journal.count, by: size).sample(oneIn: 4) {
            for kind in 0..<3 {
                var damaged = crash.journal
                let range = block..<min(block + size, damaged.count)
                switch kind {
                case 0: for place in range { damaged[place] = 0 }
                case 1: damaged[range.lowerBound + range.count / 2] ^= 0x10
                default:
                    // The contents of another block, as after a misdirected write.
                    let other = (block + 3 * size) % (damaged.count - size)
                    for place in range { damaged[place] = crash.journal[other + place - range.lowerBound] }
                }
                guard damaged != crash.journal else { continue }
                try crash.restore(journal: damaged, index: index)
                let what = "block of \(size) at \(block), kind \(kind)"
                let (items, problem) = try await contents(crash)
                #expect(problem?.contains("its journal is damaged") == true, "\(what): \(problem ?? "nothing")")
                #expect(items.allSatisfy { item in last[item.key] == item.value }, "\(what)")
                #expect(try crash.folder.bytes(of: Self.names[1]) == damaged, "\(what)")
                // It is told again: reading has left what tells it.
                #expect(try await contents(crash).problem == problem, "\(what)")
            }
        }
    }

    @Test func damagedLastCommit_isReadKeptAndSalvaged() async throws {
        let crash = try await crash()
        let end = try #require(crash.commits.last)
        var damaged = crash.journal
        // In the middle of the last frame.
        damaged[end - 2048] ^= 1
        try crash.restore(journal: damaged, index: crash.indexes.last)
        let vault = try await Vault.opened(Fixture.configuration(crash.folder))
        let login = try await vault.unlockedLogin()
        #expect(login.problem?.contains("its journal is damaged") == true)
        #expect(try await !vault.check("keychain:login", nil).isSound)
        let kept = crash.folder.names.count
        let (report, new) = try await vault.salvage(login)
        #expect(new.problem == nil && report.kept >= crash.history.count - 2)
        #expect(crash.folder.names.count >= kept)
        let id = try await new.add("after")
        await vault.close()
        let again = try await Vault.opened(Fixture.configuration(crash.folder))
        let login2 = try await again.unlockedLogin()
        #expect(login2.problem == nil && login2.itemIDs.contains(id))
        await again.close()
    }

    /// A crash in a salvage or a restore must not leave the file without its journal, as if it had been older.
    @Test func interruptedSwap_givesTheJournalBack() async throws {
        let crash = try await crash()
        var damaged = crash.journal
        damaged[try #require(crash.commits.last) - 100] ^= 1
        for removed in [["-wal"], ["-wal", "-shm"]] {
            try crash.restore(journal: damaged, index: crash.indexes.last)
            for suffix in ["", "-wal", "-shm"] {
                let name = Self.names[0] + suffix
                try FileManager.default.linkItem(
                    atPath: crash.folder.file(name),
                    toPath: crash.folder.file(Self.names[0] + ".unreadable-17" + suffix)
                )
            }
            for suffix in removed { crash.folder.remove(Self.names[0] + suffix) }
            #expect(try await contents(crash).problem?.contains("its journal is damaged") == true)
            #expect(try crash.folder.bytes(of: Self.names[1]) == damaged)
        }
    }

    @Test func aCheck_doesNotHideTheDamage() async throws {
        let crash = try await crash()
        var damaged = crash.journal
        damaged[try #require(crash.commits.last) - 100] ^= 1
        try crash.restore(journal: damaged, index: crash.indexes.last)
        for _ in 0..<2 {
            let vault = try await Vault.opened(Fixture.configuration(crash.folder))
            _ = try await vault.unlockedLogin()
            #expect(try await !vault.check("keychain:login", nil).isSound)
            await vault.close()
        }
        #expect(try await contents(crash).problem != nil)
    }

    /// A power loss keeps each synced frame, any part of later ones, and the index of any earlier time.
    @Test func powerLoss_withAnyEarlierIndex_isNotTold() async throws {
        let crash = try await crash()
        var generator = SeededGenerator(seed: 1)
        let whole = try crash.folder.bytes(of: Self.names[1]).count
        for (change, index) in crash.indexes.enumerated() {
            for end in crash.commits.indices.filter({ end in end >= change }).sample(oneIn: 3) {
                // The commits up to `end` are synced, the next is torn.
                var journal = crash.journal
                let start = (crash.commits[end] + 511) / 512 * 512
                if end + 1 < crash.commits.count {
                    let next = crash.commits[end + 1]
                    for block in stride(from: start, to: next, by: 512) where Bool.random(using: &generator) {
                        for place in block..<min(block + 512, journal.count) { journal[place] = 0 }
                    }
                    journal.removeSubrange(next...)
                }
                for length in [journal.count, whole] {
                    journal += [UInt8](repeating: 0, count: max(0, length - journal.count))
                    for old in [index, Array(index.prefix(100)), [UInt8](repeating: 0, count: index.count), nil] {
                        try crash.restore(journal: journal, index: old)
                        let (items, problem) = try await contents(crash)
                        #expect(problem == nil, "index \(change), commit \(end): \(problem ?? "")")
                        let state = try #require(crash.history.firstIndex(of: items))
                        #expect(state >= end + 1)
                    }
                }
            }
        }
    }

    /// A new journal begins with other salts; the index may still be that of the old one.
    @Test func indexOfAnotherJournal_isIgnored() async throws {
        let crash = try await crash()
        let other = try await self.crash(changes: 2)
        try other.restore(journal: other.journal, index: crash.indexes.last)
        #expect(try await contents(other).problem == nil)
        // An emptied and reserved journal.
        try crash.restore(journal: [UInt8](repeating: 0, count: 1 << 20), index: crash.indexes.last)
        #expect(try await contents(crash).problem == nil)
        // No journal at all, as after going back to a past generation by hand.
        try crash.restore(journal: [], index: crash.indexes.last)
        #expect(try await contents(crash).problem == nil)
        // A header that a crash has torn while all frames are in the file.
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        try await login.add("one")
        try await login.add("two")
        let copy = try folder.snapshot()
        await vault.close()
        try copy.write(try folder.bytes(of: Self.names[0]), to: Self.names[0])
        var journal = try copy.bytes(of: Self.names[1])
        for place in 16..<32 { journal[place] = 0 }
        try copy.write(journal, to: Self.names[1])
        let torn = try await Vault.opened(Fixture.configuration(copy))
        #expect(try await torn.unlockedLogin().problem == nil)
        #expect(try await torn.unlockedLogin().itemCount == 2)
        await torn.close()
    }

    /// When all is in the file, the older pages before the damage must not replace newer ones.
    @Test func damageBehindACheckpoint_losesNothing() async throws {
        let folder = TemporaryFolder()
        let vault = try await Vault.opened(Fixture.configuration(folder))
        let login = try await vault.unlockedLogin()
        for number in 0..<3 { try await login.add("x", ["n": "\(number)"], secret: "\(number)") }
        try await eventually("all frames in the file, as after a pause") {
            let index = try folder.bytes(of: Self.names[2])
            return index[96..<100].elementsEqual(index[16..<20])
        }
        let copy = try folder.snapshot()
        await vault.close()
        var journal = try copy.bytes(of: Self.names[1])
        let frames = try copy.bytes(of: Self.names[2])[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
        journal[32 + frames * Self.frameSize - 1500] ^= 4
        try copy.write(journal, to: Self.names[1])
        let damaged = try await Vault.opened(Fixture.configuration(copy))
        let read = try await damaged.unlockedLogin()
        #expect(read.problem?.contains("all of its 3 items are intact") == true)
        for (number, id) in read.itemIDs.enumerated() {
            #expect(try await read.content(of: id) == Array("\(number)".utf8))
        }
        await damaged.close()
    }
}
