import Foundation
import Testing

@testable import KeychaindLog

/// Each operation of each scenario fails in turn, in each way.
@Suite(.lockedPool) struct LogFaultTests {
    /// What is stored, as far as the caller knows.
    struct Model {
        /// More than one after a change of unknown outcome.
        var possible: [Contents]

        /// Whether the disk says that it has done what it has not.
        var isLying = false

        mutating func change(_ log: RecordLog, _ changes: [RecordChange]) {
            let next = possible.map { contents in contents.after(changes) }
            do throws(LogError) {
                try log.commit(changes, .test)
                possible = next
            } catch {
                if case .unknown = log.condition { possible += next }
            }
        }
    }

    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let first: Contents

        /// Prepares the file before the disk may fail.
        var prepare: @Sendable (LogFolder, RecordLog) throws -> Void = { _, _ in }

        var run: @Sendable (LogFolder, LogSystem, inout Model) throws -> Void
    }

    static let base: Contents = [1: "first version", 2: "two", 3: "three"]

    static let scenarios = [
        Scenario(testDescription: "open", first: base) { folder, system, model in
            let log = try folder.open(system: system)
            let found = try log.read()
            #expect(model.isLying || model.possible.contains(found))
        },
        Scenario(testDescription: "change", first: base) { folder, system, model in
            let log = try folder.open(system: system)
            model.change(log, [.put(4, "four"), .put(1, "second version"), .remove(2, erasesPast: false)])
            model.change(log, [.put(5, "five")])
        },
        Scenario(testDescription: "grow", first: base) { folder, system, model in
            let log = try folder.open(system: system)
            for number in UInt64(10)..<14 { model.change(log, [.put(number, String(repeating: "long", count: 700))]) }
        },
        Scenario(testDescription: "erase", first: base) { folder, system, model in
            let log = try folder.open(system: system)
            model.change(log, [.put(1, "second version", erasesPast: true)])
            try? log.finishErasing()
            model.change(log, [.remove(1), .put(5, "five")])
            model.change(log, [.put(6, "six")])
        },
        Scenario(
            testDescription: "erase again",
            first: base,
            prepare: { _, log in
                try log.commit(.put(1, "second version"))
                try log.commit(.put(1, "third version", erasesPast: true))
            },
            run: { folder, system, model in
                model.possible = [base.after([.put(1, "third version")])]
                let log = try folder.open(system: system)
                model.change(log, [.put(6, "six")])
            }
        ),
        Scenario(
            testDescription: "torn tail",
            first: base,
            prepare: { folder, log in
                let end = log.contents.end
                try log.commit(.put(1, "torn"), .put(2, "torn"))
                var bytes = folder.bytes
                bytes[end + 5] ^= 1
                folder.bytes = bytes
            },
            run: { folder, system, model in
                let log = try folder.open(system: system)
                model.change(log, [.put(4, "four")])
            }
        ),
        Scenario(
            testDescription: "compact",
            first: base,
            prepare: { _, log in for number in UInt64(0)..<20 { try log.commit(.put(1, "version \(number)")) } },
            run: { folder, system, model in
                model.possible = [base.after([.put(1, "version 19")])]
                let log = try folder.open(system: system)
                var rewriting = Rewriting()
                rewriting.horizon = 15
                _ = try? log.rewrite(rewriting, .test)
                model.change(log, [.put(4, "four")])
                model.change(log, [.put(5, "five")])
            }
        ),
        Scenario(testDescription: "rewrite with a change", first: base) { folder, system, model in
            let log = try folder.open(system: system)
            var rewriting = Rewriting()
            rewriting.changes = [.put(1, "second version", erasesPast: true), .put(7, "seven")]
            let next = model.possible[0].after(rewriting.changes)
            do throws(LogError) {
                try log.rewrite(rewriting, .test)
                model.possible = [next]
            } catch {
                // Only whether the folder has it may be unknown, and the log says which it uses.
                if log.folderIsUnsynced { model.possible.append(next) }
            }
            let isNew = log.contains(.item(7))
            let before = model.possible
            model.change(log, [.put(4, "four")])
            if model.possible != before { model.possible = model.possible.filter { ($0[7] != nil) == isNew } }
        },
        Scenario(
            testDescription: "salvage",
            first: base,
            prepare: { folder, log in
                let end = log.contents.end
                try log.commit(.put(4, "lost"))
                try log.commit(.put(5, "five"))
                var bytes = folder.bytes
                bytes[end + 5] ^= 1
                folder.bytes = bytes
            },
            run: { folder, system, model in
                model.possible = [base.after([.put(5, "five")])]
                let log = try folder.open(system: system)
                var rewriting = Rewriting()
                rewriting.isSalvage = true
                _ = try? log.rewrite(rewriting, .test)
                model.change(log, [.put(6, "six")])
            }
        ),
    ]

    @Test(arguments: scenarios, FaultyDisk.Mode.allCases)
    func fault_losesNothing_andStoresNothingThatWasRefused(scenario: Scenario, mode: FaultyDisk.Mode) throws {
        let prepared = LogFolder()
        try scenario.prepare(prepared, prepared.create(scenario.first))
        let bytes = prepared.bytes
        var number = 0
        var last = FaultyDisk()
        repeat {
            number += 1
            let folder = LogFolder()
            folder.bytes = bytes
            let disk = FaultyDisk(failing: number, mode)
            var model = Model(possible: [scenario.first], isLying: mode == .lie)
            do {
                try scenario.run(folder, disk.system, &model)
            } catch let error as LogError {
                #expect(disk.seen >= number, "\(number): \(error)")
            }
            last = disk
            let log = try folder.open()
            let found = try log.read()
            // A disk that lies may lose anything, but the log can be opened again.
            if mode == .lie { continue }
            #expect(model.possible.contains(found), "operation \(number): \(found), not \(model.possible)")
            if scenario.testDescription != "salvage" { #expect(log.report.damages == [], "operation \(number)") }
            try log.commit(.put(99, "last"))
            try log.finishErasing()
            if scenario.testDescription.hasPrefix("erase"), found[1] != "first version" {
                #expect(!String(decoding: folder.bytes, as: UTF8.self).contains("first version"), "\(number)")
            }
            #expect(try folder.open(known: log.sequence, readOnly: true).read() == found.after([.put(99, "last")]))
        } while last.seen >= number
        #expect(number > 6)
    }

    @Test(arguments: FaultyDisk.Mode.allCases)
    func creation_isDoneOrNot(mode: FaultyDisk.Mode) throws {
        var number = 0
        var last = FaultyDisk()
        repeat {
            number += 1
            let folder = LogFolder()
            let disk = FaultyDisk(failing: number, mode)
            let log = Result { () throws(LogError) in try folder.create(Self.base, system: disk.system) }
            last = disk
            switch log {
            case .success where mode == .lie: _ = try? folder.open()
            case .success: #expect(try folder.open(readOnly: true).read() == Self.base)
            case .failure:
                // The process or the disk has ended before the name could be taken back.
                let isGone = !folder.names.contains("test.keychain")
                #expect(isGone || disk.isDead || mode == .lie, "operation \(number)")
                if !isGone { #expect(try folder.open().read() == Self.base) }
            }
        } while last.seen >= number
        #expect(number > 8)
    }
}
