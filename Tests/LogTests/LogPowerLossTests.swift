import CKeychaindLinux
import Foundation
import Glibc
import KeychaindTestSupport
import Synchronization
import Testing

@testable import KeychaindLog

/// Power losses: the disk may have any part of what was written since the last sync, in sectors of 512 bytes.
@Suite(.lockedPool) struct LogPowerLossTests {
    /// An operation on the disk, or what the caller knew at that time.
    enum Event {
        case write(file: Int, offset: Int, [UInt8])
        case sync(file: Int)
        case name(String, file: Int?)
        case syncFolder
        case stored(Contents)
        case begun(Contents)
        case refused
    }

    /// Records what is done to the files of a folder.
    final class Recorder: Sendable {
        private struct State {
            var events: [Event] = []
            var files: [ino_t: Int] = [:]
            var names: [String: Int] = [:]
            var failingSyncs = 0
        }

        private let state = Mutex(State())

        var events: [Event] { state.withLock { state in state.events } }

        /// The next syncs that fail.
        var failingSyncs: Int {
            get { state.withLock { state in state.failingSyncs } }
            set { state.withLock { state in state.failingSyncs = newValue } }
        }

        func add(_ event: Event) { state.withLock { state in state.events.append(event) } }

        private func file(_ descriptor: CInt) -> Int {
            var status = stat()
            fstat(descriptor, &status)
            return state.withLock { state in state.files[status.st_ino] ?? -1 }
        }

        var system: LogSystem {
            let real = LogSystem()
            var system = real
            system.open = { path, flags in
                let descriptor = real.open(path, flags)
                guard descriptor >= 0, flags & O_EXCL != 0 else { return descriptor }
                var status = stat()
                fstat(descriptor, &status)
                self.state.withLock { state in
                    let number = state.events.count
                    state.files[status.st_ino] = number
                    state.names[path] = number
                    state.events.append(.name(path, file: number))
                }
                return descriptor
            }
            system.write = { file, bytes, count, offset in
                let written = Array(UnsafeRawBufferPointer(start: bytes, count: count))
                self.add(.write(file: self.file(file), offset: offset, written))
                return real.write(file, bytes, count, offset)
            }
            system.synchronize = { file in
                let fails = self.state.withLock { state in
                    state.failingSyncs -= 1
                    return state.failingSyncs >= 0
                }
                if fails {
                    errno = EIO
                    return -1
                }
                self.add(.sync(file: self.file(file)))
                return 0
            }
            system.synchronizeFolder = { _ in
                self.add(.syncFolder)
                return 0
            }
            system.rename = { path, newPath, replacing in
                let result = real.rename(path, newPath, replacing)
                guard result == 0 else { return result }
                self.state.withLock { state in
                    let file = state.names.removeValue(forKey: path)
                    state.names[newPath] = file
                    state.events.append(.name(newPath, file: file))
                    state.events.append(.name(path, file: nil))
                }
                return result
            }
            system.remove = { path in
                let result = real.remove(path)
                if result == 0 { self.add(.name(path, file: nil)) }
                return result
            }
            return system
        }
    }

    /// The files of a disk: what is certain to be on it, and what may be.
    struct Disk {
        private var files: [Int: [UInt8]] = [:]
        private var names: [String: Int] = [:]
        private var writes: [(file: Int, offset: Int, bytes: [UInt8])] = []
        private var renames: [(String, Int?)] = []

        mutating func apply(_ event: Event) {
            switch event {
            case .write(let file, let offset, let bytes): writes.append((file, offset, bytes))
            case .sync(let file):
                for write in writes where write.file == file {
                    Self.write(write.bytes[...], at: write.offset, to: &files[file, default: []])
                }
                writes.removeAll { write in write.file == file }
            case .name(let name, let file): renames.append((name, file))
            case .syncFolder:
                for (name, file) in renames { names[name] = file }
                renames = []
            case .stored, .begun, .refused: break
            }
        }

        /// The file that a power loss leaves under a name, if `keeps` says of each unsynced sector whether it is kept.
        func file(_ name: String, renames kept: Int, keeps: (Int) -> Bool) -> [UInt8]? {
            var names = names
            for (name, file) in renames.prefix(kept) { names[name] = file }
            guard let file = names[name] else { return nil }
            var bytes = files[file] ?? []
            var sector = 0
            for write in writes where write.file == file {
                var start = 0
                while start < write.bytes.count {
                    let end = min(write.bytes.count, ((write.offset + start) / 512 + 1) * 512 - write.offset)
                    if keeps(sector) { Self.write(write.bytes[start..<end], at: write.offset + start, to: &bytes) }
                    sector += 1
                    start = end
                }
            }
            return bytes
        }

        var pendingRenames: Int { renames.count }

        var pendingSectors: Int { writes.reduce(0) { sum, write in sum + (write.bytes.count + 1023) / 512 } }

        private static func write(_ part: ArraySlice<UInt8>, at offset: Int, to bytes: inout [UInt8]) {
            if bytes.count < offset + part.count {
                bytes += [UInt8](repeating: 0, count: offset + part.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + part.count, with: part)
        }
    }

    private static func run(_ folder: LogFolder, _ recorder: Recorder) throws {
        var contents: Contents = [1: "first version", 2: "two"]
        recorder.add(.begun(contents))
        let log = try folder.create(contents, system: recorder.system)
        recorder.add(.stored(contents))
        func change(_ changes: [RecordChange], failing: Int = 0) throws {
            let next = contents.after(changes)
            recorder.failingSyncs = failing
            if failing == 0 { recorder.add(.begun(next)) }
            do throws(LogError) {
                try log.commit(changes, .test)
                contents = next
                recorder.add(.stored(next))
            } catch {
                guard failing > 0, case .writable = log.condition else { throw error }
                recorder.add(.refused)
            }
        }
        try change([.put(3, "three")])
        try change([.put(4, String(repeating: "long", count: 300)), .put(5, "five"), .put(1, "second version")])
        try change([.remove(2)])
        try change([.put(1, "third version", erasesPast: true)])
        try log.finishErasing()
        try change([.put(6, "refused"), .put(7, String(repeating: "refused", count: 150))], failing: 1)
        try change([.put(6, "six")])
        for number in UInt64(10)..<14 { try change([.put(number, String(repeating: "long", count: 400))]) }
        recorder.add(.begun(contents))
        try log.rewrite(Rewriting(), .test)
        try change([.put(8, "eight"), .remove(3)])
        try change([.put(8, "eight again", erasesPast: true)])
        for number in UInt64(20)..<30 {
            let text = { (part: Int) in String(repeating: "\(number)", count: 40 * part) }
            try change([
                .put(number, text(1)), .put(8, text(2), erasesPast: number % 2 == 0), .put(number + 10, text(3)),
            ])
        }
        try change([.put(9, "nine")])
    }

    @Test func powerLoss_leavesWhatWasStored_andNothingThatWasRefused() throws {
        let recorded = LogFolder()
        let recorder = Recorder()
        try Self.run(recorded, recorder)
        let events = recorder.events
        var disk = Disk()
        var allowed: [Contents?] = [nil]
        var sequence: UInt64 = 0
        var cases = 0
        for (number, event) in events.enumerated() {
            disk.apply(event)
            switch event {
            case .stored(let contents): allowed = [contents]
            case .begun(let contents): allowed.append(contents)
            default: break
            }
            for kept in 0...disk.pendingRenames {
                let sectors = disk.pendingSectors
                var choices: [(Int) -> Bool] = [{ _ in true }, { _ in false }]
                if sectors <= 7 {
                    for kept in 1..<(1 << sectors) { choices.append { sector in kept >> sector & 1 == 1 } }
                } else {
                    for sector in 0..<min(sectors, 40) {
                        choices += [{ $0 == sector }, { $0 != sector }, { $0 < sector }]
                    }
                    for seed in UInt64(0)..<64 {
                        choices.append { sector in
                            (UInt64(sector + 1) &* (seed &* 2 &+ 0x9e37_79b9_7f4a_7c15)) >> 40 & 1 == 0
                        }
                    }
                }
                for bytes in Set(choices.sample(oneIn: 8).map { disk.file(recorded.log, renames: kept, keeps: $0) }) {
                    cases += 1
                    try Self.check(bytes, allowed, "event \(number)", &sequence)
                }
            }
        }
        #expect(cases > 700 / 8)
    }

    private static func check(
        _ bytes: [UInt8]?,
        _ allowed: [Contents?],
        _ what: String,
        _ sequence: inout UInt64
    ) throws {
        guard let bytes else {
            #expect(allowed.contains(nil), "\(what)")
            return
        }
        let folder = LogFolder()
        folder.bytes = bytes
        var log: RecordLog? = try folder.open()
        let found = try log?.read() ?? [:]
        #expect(allowed.contains(found), "\(what): \(found)")
        #expect(log?.report.damages == [], "\(what)")
        try log?.commit(.put(99, "after"))
        try log?.finishErasing()
        sequence = log?.sequence ?? 0
        log = nil
        let again = try folder.open(known: sequence, readOnly: true)
        #expect(again.report == LogReport(), "\(what)")
        #expect(try again.read() == found.after([.put(99, "after")]), "\(what)")
        guard found[1] == "third version" else { return }
        let text = String(decoding: folder.bytes, as: UTF8.self)
        #expect(!text.contains("first version") && !text.contains("second version"), "\(what)")
    }
}
