import CKeychaindLinux
import Foundation
import KeychaindGcrypt
import Testing

@testable import KeychaindLog

@Suite(.lockedPool) struct RecordLogTests {
    private let folder = LogFolder()

    @Test func changes_areThereAfterReopening() throws {
        var log: RecordLog? = try folder.create([1: "one", 2: "two"])
        try log?.commit(.put(3, "three"), .put(1, "uno"), .remove(2))
        #expect(log?.sequence == 5)
        #expect(try log?.read() == [1: "uno", 3: "three"])
        log = nil
        let again = try folder.open(known: 5)
        #expect(again.report == LogReport())
        #expect(again.sequence == 5)
        #expect(try again.read() == [1: "uno", 3: "three"])
        #expect(try again.read(nil, nil) == [1: "sealed", 3: "sealed"])
        #expect(
            try again.read(.item(3), .test) { record in String(decoding: record.secret, as: UTF8.self) }.hasSuffix(
                "three"
            )
        )
        refused(.noSuchRecord) { try again.read(.item(2), .test) { _ in } }
        refused(.damaged) { try again.read(.item(1), .numbered(2)) { _ in } }
    }

    @Test func emptyAndLargeContents_areStored() throws {
        let log = try folder.create()
        let large = String(repeating: "x", count: 700_000)
        try log.commit(.put(1, large), .put(2, ""))
        try log.commit([RecordChange(.item(3), RecordContent())], .test)
        #expect(try log.read(.item(1), .test) { record in record.metadata?.count } == 700_000)
        #expect(try log.read(.item(3), .test) { record in record.metadata?.count } == 0)
        #expect(try folder.open(readOnly: true).count == 3)
        refused(.limitExceeded) { try log.commit(.put(4, String(repeating: "x", count: 9 << 20))) }
        #expect(log.count == 3)
    }

    @Test func commitThatChangesARecordTwice_isRefused() throws {
        let log = try folder.create()
        refused(.invalidChange) { try log.commit(.put(1, "one"), .remove(1)) }
        #expect(RecordID(kind: 1, number: 1 << 56) == nil)
    }

    @Test func twoWriters_areExcluded_andTheNameIsTakenOnce() throws {
        let log = try folder.create([1: "one"])
        refused(.inUse) { _ = try folder.open() }
        refused(.inUse) { _ = try folder.create() }
        #expect(try folder.open(readOnly: true).read() == [1: "one"])
        refused(.readOnly) { try folder.open(readOnly: true).commit(.put(2, "two")) }
        try log.rewrite(Rewriting(), .test)
        refused(.inUse) { _ = try folder.open() }
        #expect(folder.names == ["test.keychain"])
    }

    @Test func otherLog_isForeign_andOtherFormatsAreTold() throws {
        _ = try folder.create([1: "one"])
        refused(.foreign) { _ = try RecordLog(folder.log, application: 1) }
        refused(.foreign) {
            _ = try RecordLog(folder.log, application: LogFolder.application, uuid: [UInt8](repeating: 9, count: 16))
        }
        var bytes = folder.bytes
        for start in [0, LogHeader.copyOffset] {
            bytes[start + 11] = 2
            let mark = try bytes[start..<start + 64].withUnsafeBytes { try Mark(of: $0) }
            bytes.replaceSubrange(start + 64..<start + 80, with: mark.bytes)
        }
        folder.bytes = bytes
        refused(.unsupportedFormat) { _ = try folder.open() }
        folder.bytes = Array("SQLite format 3".utf8) + [UInt8](repeating: 0, count: 9000)
        refused(.unreadable) { _ = try folder.open() }
        folder.bytes = []
        refused(.unreadable) { _ = try folder.open() }
    }

    @Test func earlierState_isReadable_untilCompactionDropsIt() throws {
        let log = try folder.create([1: "one"])
        var states: [Contents] = [[:], [1: "one"]]
        for number in UInt64(2)...8 {
            let changes = [
                number % 3 == 0 ? RecordChange.remove(number - 1, erasesPast: false) : .put(number, "\(number)")
            ]
            try log.commit(changes, .test)
            states.append(states[states.count - 1].after(changes))
        }
        for (sequence, state) in states.enumerated().dropFirst() {
            #expect(try log.read(log.state(at: UInt64(sequence))) == state)
        }
        let past = try log.state(at: 5)
        var rewriting = Rewriting()
        rewriting.horizon = 5
        try log.rewrite(rewriting, .test)
        #expect(log.sequence == 8)
        #expect(log.horizon == 5)
        refused(.noHistory) { _ = try log.state(at: 4) }
        refused(.noHistory) { _ = try log.read(past) }
        for (sequence, state) in states.enumerated().dropFirst(5) {
            #expect(try log.read(log.state(at: UInt64(sequence))) == state)
        }
        try log.commit(.put(9, "nine"))
        try log.rewrite(Rewriting(), .test)
        #expect(try log.read() == states[8].after([.put(9, "nine")]))
        refused(.noHistory) { _ = try log.state(at: 8) }
    }

    @Test func erasedPast_isNotInTheFile_andTheRestIs() throws {
        let log = try folder.create([1: "first version", 2: "other"])
        try log.commit(.put(1, "second version"))
        try log.commit(.put(1, "third version", erasesPast: true))
        #expect(log.hasUnfinishedErasures)
        try log.finishErasing()
        #expect(!log.hasUnfinishedErasures)
        let text = String(decoding: folder.bytes, as: UTF8.self)
        #expect(!text.contains("first version") && !text.contains("second version") && text.contains("third version"))
        #expect(try log.read() == [1: "third version", 2: "other"])
        #expect(try log.read(log.state(at: 2)) == [2: "other"])
        try log.commit(.remove(1))
        try log.commit(.put(3, "next"))
        #expect(!log.hasUnfinishedErasures)
        #expect(!String(decoding: folder.bytes, as: UTF8.self).contains("third version"))
        #expect(try folder.open(known: log.sequence, readOnly: true).report == LogReport())
        #expect(try log.check(.test) == [])
    }

    @Test func erasures_areFinishedByTheNextOpening_alsoBehindAnUnreadableFrame() throws {
        var log: RecordLog? = try folder.create([1: "first version"])
        try log?.commit(.put(1, "second version"))
        let middle = log?.contents.end ?? 0
        try log?.commit(.put(1, "third version"))
        try log?.commit(.put(1, "fourth version", erasesPast: true))
        log = nil
        var bytes = folder.bytes
        bytes[middle + 3] ^= 1
        folder.bytes = bytes
        #expect(try folder.open().read() == [1: "fourth version"])
        let text = String(decoding: folder.bytes, as: UTF8.self)
        #expect(!text.contains("first version") && !text.contains("second version") && text.contains("fourth version"))
    }

    @Test func compaction_makesTheFileSmaller_andKeepsSequences() throws {
        let log = try folder.create()
        for number in UInt64(1)...300 { try log.commit(.put(number % 5, "version \(number)")) }
        #expect(log.frameCount >= 300)
        let size = folder.bytes.count
        try log.rewrite(Rewriting(), .test)
        #expect(log.frameCount < 10 && folder.bytes.count < size / 2)
        #expect(log.sequence == 300)
        let contents = try log.read()
        #expect(contents == [0: "version 300", 1: "version 296", 2: "version 297", 3: "version 298", 4: "version 299"])
        try log.commit(.put(9, "nine"))
        #expect(try folder.open(known: 301, readOnly: true).report == LogReport())
        #expect(try log.read() == contents.after([.put(9, "nine")]))
    }

    @Test func rewriting_changesKeysAndSecrets_andDropsRecords() throws {
        let log = try folder.create([1: "one", 2: "two", 3: "three"])
        var rewriting = Rewriting()
        rewriting.changes = [.put(2, "zwei", erasesPast: true)]
        rewriting.isDropped = { id, _ in id == .item(3) }
        rewriting.transform = { _, content in content.secret += Array("!".utf8) }
        try log.rewrite(rewriting, .test, newKey: .numbered(2))
        #expect(!String(decoding: folder.bytes, as: UTF8.self).contains("two"))
        #expect(log.count == 2)
        #expect(
            try log.read(.item(1), .numbered(2)) { String(decoding: $0.secret, as: UTF8.self) }
                == "a secret with a tag: one!"
        )
        refused(.damaged) { try log.read(.item(1), .test) { _ in } }
        #expect(log.sequence == 4)
    }

    @Test func fileThatIsChangedOutside_isNoticedBeforeAWrite() throws {
        let changes: [(String, (LogFolder) -> Void)] = [
            ("removed", { folder in unlink(folder.log) }),
            ("replaced", { folder in folder.bytes = folder.bytes }),
            ("cut", { folder in truncate(folder.log, 5000) }),
            ("grown", { folder in truncate(folder.log, 1 << 20) }),
            (
                "written",
                { folder in
                    let file = open(folder.log, O_WRONLY)
                    pwrite(file, "x", 1, 4200)
                    close(file)
                    var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
                    utimensat(AT_FDCWD, folder.log, &times, 0)
                }
            ),
        ]
        for (name, change) in changes {
            let folder = LogFolder()
            let log = try folder.create([1: "one"])
            change(folder)
            let bytes = folder.bytes
            refused(.displaced) { try log.commit(.put(2, "two")) }
            refused(.displaced) { try log.rewrite(Rewriting(), .test) }
            #expect(folder.bytes == bytes, "\(name)")
            #expect(folder.names.count <= 1, "\(name)")
        }
    }

    @Test func olderFile_isNoticed() throws {
        var log: RecordLog? = try folder.create([1: "one"])
        let old = folder.bytes
        try log?.commit(.put(1, "two"))
        log = nil
        folder.bytes = old
        #expect(try folder.open(known: 2).report.end == .older(than: 2))
        #expect(try folder.open(known: 1).report.end == .clean)
    }

    @Test func fullDisk_removalsHaveTheReserve() throws {
        let disk = FaultyDisk()
        let log = try folder.create(system: disk.system)
        disk.isFull = true
        var stored: [UInt64] = []
        for number in UInt64(0)..<100 {
            do throws(LogError) {
                try log.commit(.put(number, "text"))
                stored.append(number)
            } catch {
                #expect(error.code == .storageFull)
            }
        }
        #expect(stored.count > 5 && stored.count < 100)
        for number in stored.prefix(6) { try log.commit(.remove(number)) }
        #expect(Set(try log.read().keys) == Set(stored.dropFirst(6)))
        disk.isFull = false
        try log.commit(.put(200, "again"))
        #expect(try folder.open(known: log.sequence, readOnly: true).report == LogReport())
    }
}

extension RecordLog {
    func check(_ key: LogKey?) throws -> [LogDamage] { try forEach(in: state, key) { _ in } }
}
