import Foundation
import KeychaindTestSupport
import Testing

@testable import KeychaindLog

/// Files with bad bytes: each costs the records whose frames it is in, and no other.
@Suite(.lockedPool) struct LogDamageTests {
    private static let contents: Contents = Dictionary(
        uniqueKeysWithValues: (1...12).map { number in (UInt64(number), "record \(number)") }
    )

    /// The frames of a file, by the number of their record.
    private struct Sample {
        let bytes: [UInt8]
        let frames: [UInt64: Range<Int>]
        let sequence: UInt64
        let end: Int

        func records(in range: Range<Int>) -> Set<UInt64> {
            Set(frames.filter { _, frame in frame.overlaps(range) }.keys)
        }
    }

    private static func sample() throws -> Sample {
        let folder = LogFolder()
        let log = try folder.create()
        for (number, text) in contents.sorted(by: { $0.key < $1.key }) { try log.commit(.put(number, text)) }
        var frames: [UInt64: Range<Int>] = [:]
        var reader = FrameReader(log.file, log.header, log.limits)
        for (id, place) in log.contents.places {
            let frame = try #require(try reader.frame(at: place))
            frames[id.number] = place..<place + frame.size
        }
        return Sample(bytes: folder.bytes, frames: frames, sequence: log.sequence, end: log.contents.end)
    }

    private static func check(
        _ bytes: [UInt8],
        losing lost: Set<UInt64>,
        of sample: Sample,
        _ what: String
    ) throws {
        let folder = LogFolder()
        folder.bytes = bytes
        let log = try folder.open(known: sample.sequence, readOnly: true)
        var found: Contents = [:]
        let damages = try log.forEach(in: log.state, .test) { record in
            found[record.id.number] = record.metadata.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(found == contents.filter { number, _ in !lost.contains(number) }, "\(what)")
        let isTold = !log.report.damages.isEmpty || log.report.end != .clean
        #expect(lost.isEmpty || isTold || !damages.isEmpty, "\(what)")
        #expect(try Set(log.read(nil, nil).keys) == Set(found.keys), "\(what)")
    }

    @Test func changedByte_costsItsRecord() throws {
        let sample = try Self.sample()
        for place in (0..<sample.end).sample(oneIn: 10) {
            var bytes = sample.bytes
            bytes[place] ^= 1 << (place % 8)
            try Self.check(bytes, losing: sample.records(in: place..<place + 1), of: sample, "byte \(place)")
        }
    }

    @Test(arguments: [512, 4096], [0, 0xa5] as [UInt8])
    func overwrittenBlock_costsItsRecords(size: Int, byte: UInt8) throws {
        let sample = try Self.sample()
        for start in stride(from: 0, to: sample.end, by: size) {
            let range = start..<min(start + size, sample.bytes.count)
            var bytes = sample.bytes
            bytes.replaceSubrange(range, with: repeatElement(byte, count: range.count))
            try Self.check(bytes, losing: sample.records(in: range), of: sample, "block at \(start)")
        }
    }

    @Test func cutFile_isTold_andKeepsWhatIsWhole() throws {
        let sample = try Self.sample()
        for size in (LogHeader.size..<sample.bytes.count).sample(oneIn: 20) {
            let lost = sample.records(in: size..<sample.bytes.count)
            try Self.check(Array(sample.bytes[..<size]), losing: lost, of: sample, "\(size) bytes")
            guard size < sample.end else { continue }
            // Also if the sequence is unknown.
            for known in [0, sample.sequence] {
                let folder = LogFolder()
                folder.bytes = Array(sample.bytes[..<size])
                #expect(try folder.open(readOnly: true).report.end == .cut, "\(size) bytes")
                // What is written behind the cut is not taken for the rest of a frame.
                for number in UInt64(20)..<23 { try folder.open(known: known).commit(.put(number, "behind")) }
                let found = try folder.open(readOnly: true).read()
                let expected = Self.contents.filter { number, _ in !lost.contains(number) }
                #expect(found == expected.after((20..<23).map { number in .put(number, "behind") }), "\(size) bytes")
            }
        }
    }

    @Test func damageInTheLastCommit_isACrash_unlessItsSequenceIsKnown() throws {
        let folder = LogFolder()
        var log = try Optional(folder.create([1: "one"]))
        let start = log?.contents.end ?? 0
        try log?.commit(.put(2, "two"), .put(3, "three"), .put(4, "four"))
        let end = log?.contents.end ?? 0
        log = nil
        let bytes = folder.bytes
        for place in stride(from: start, to: end, by: 7) {
            folder.bytes = bytes
            folder.bytes[place] ^= 1
            let found = try folder.open(known: 4, readOnly: true).read()
            #expect(found.count == 3 && found[1] == "one", "byte \(place)")
            let crashed = try folder.open(known: 1)
            guard case .torn = crashed.report.end else {
                Issue.record("byte \(place): \(crashed.report.end)")
                continue
            }
            #expect(try crashed.read() == [1: "one"], "byte \(place)")
        }
    }

    @Test func damagedLog_isWrittenFurther_andSalvaged() throws {
        let sample = try Self.sample()
        let folder = LogFolder()
        var bytes = sample.bytes
        for number in [3, 12] as [UInt64] { bytes[(sample.frames[number]?.lowerBound ?? 0) + 7] ^= 1 }
        bytes[(sample.frames[5]?.upperBound ?? 0) - 1] ^= 1
        folder.bytes = bytes
        var log = try Optional(folder.open(known: sample.sequence))
        #expect(log?.report.end == .damaged)
        #expect(log?.report.damages.count == 2)
        try log?.commit(.put(20, "twenty"))
        log = nil
        #expect(Array(folder.bytes[..<sample.end]) == Array(bytes[..<sample.end]))
        let again = try folder.open(known: sample.sequence + 1)
        #expect(again.report.end == .clean)
        var expected = Self.contents.after([.put(20, "twenty")])
        for number in [3, 5, 12] as [UInt64] { expected[number] = nil }
        #expect(try again.read() == expected)
        refused(.damaged) { try again.rewrite(Rewriting(), .test) }
        var salvage = Rewriting()
        salvage.isSalvage = true
        let left = try again.rewrite(salvage, .test)
        #expect(left.map(\.kind) == [.unreadable, .unreadable, .frame(.item(5), sequence: 5)])
        #expect(try again.read() == expected)
        #expect(try folder.open(known: again.sequence, readOnly: true).report == LogReport())
    }

    @Test func droppedAndSwappedFrames_areTold() throws {
        let sample = try Self.sample()
        let four = try #require(sample.frames[4])
        let five = try #require(sample.frames[5])
        let folder = LogFolder()
        let rest = sample.bytes[five.lowerBound...]
        folder.bytes = Array(sample.bytes[..<four.lowerBound] + rest)
        let dropped = try folder.open(known: sample.sequence, readOnly: true)
        #expect(dropped.report.damages.map(\.kind) == [.missing])
        #expect(try dropped.read() == Self.contents.filter { number, _ in number != 4 })
        folder.bytes = Array(
            sample.bytes[..<four.lowerBound] + sample.bytes[five] + sample.bytes[four]
                + sample.bytes[five.upperBound...]
        )
        let swapped = try folder.open(known: sample.sequence, readOnly: true)
        #expect(swapped.report.damages.map(\.kind) == [.missing, .unreadable])
    }

    @Test func framesOfAnEarlierFile_doNotFit() throws {
        let sample = try Self.sample()
        let folder = LogFolder()
        folder.bytes = sample.bytes
        var log = try Optional(folder.open())
        try log?.rewrite(Rewriting(), .test)
        let end = log?.contents.end ?? 0
        log = nil
        var bytes = folder.bytes
        let frame = try #require(sample.frames[7])
        bytes.replaceSubrange(end..<end + frame.count, with: sample.bytes[frame])
        folder.bytes = bytes
        #expect(try folder.open(known: sample.sequence).report.end == .torn(bytes: frame.count))
        #expect(try folder.open(readOnly: true).read() == Self.contents)
    }

    /// A frame with valid marks, as somebody can make it who can read the file, at the end of a sound file.
    private static func forged(_ change: (inout [UInt8]) -> Void) throws -> (LogFolder, RecordLog) {
        let folder = LogFolder()
        let log = try folder.create([1: "one"])
        var writer = FrameWriter(log, .numbered(9))
        _ = try writer.append(.item(2), .endsCommit, RecordContent(metadata: [1, 2, 3]), sequence: 2, older: nil)
        var bytes = writer.bytes
        change(&bytes)
        let marked = log.header.mark.bytes + bytes[..<80]
        try bytes.replaceSubrange(80..<96, with: marked.withUnsafeBytes { try Mark(of: $0) }.bytes)
        var file = folder.bytes
        let end = log.contents.end
        if file.count < end + bytes.count { file += [UInt8](repeating: 0, count: bytes.count) }
        file.replaceSubrange(end..<end + bytes.count, with: bytes)
        folder.bytes = file
        return (folder, try folder.open(readOnly: true))
    }

    @Test func forgedFrame_isDamagedToTheKey() throws {
        let (_, log) = try Self.forged { _ in }
        #expect(log.count == 2)
        #expect(try log.read() == [1: "one"])
        #expect(try log.check(.test).map(\.kind) == [.frame(.item(2), sequence: 2)])
    }

    @Test(arguments: [12, 16, 20], [0, 1, 27, 1 << 20, 1 << 31, UInt32.max])
    func lengthThatLies_isNoFrame(place: Int, length: UInt32) throws {
        let (_, log) = try Self.forged { bytes in
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(place..<place + 4, with: $0) }
        }
        #expect(try log.read() == [1: "one"])
    }

    @Test func placeOfAnOlderFrameThatLies_erasesNothingElse() throws {
        for place in [1, 4000, LogHeader.end, LogHeader.end + 1, 1 << 40, Int.max] {
            let (folder, _) = try Self.forged { bytes in
                bytes[5] |= Frame.Flags.erasesPast.rawValue
                withUnsafeBytes(of: UInt64(place).bigEndian) { bytes.replaceSubrange(40..<48, with: $0) }
            }
            #expect(try folder.open().read() == [1: "one"])
        }
    }

    @Test func moreRecordsThanAllowed_areRefused() throws {
        let folder = LogFolder()
        var limits = LogLimits()
        limits.records = 50
        let log = try folder.create(limits: limits)
        refused(.limitExceeded) {
            for number in UInt64(0)..<100 { try log.commit(.put(number, "x")) }
        }
        #expect(log.count == 50)
    }

    @Test func commitWithoutAnEnd_isReadInParts() throws {
        let folder = LogFolder()
        let log = try folder.create([1: "one"])
        var limits = LogLimits.small
        limits.changes = 400
        var writer = FrameWriter(log, .test)
        for index in 0..<limits.changes + 100 {
            let sequence = UInt64(index) + 2
            _ = try writer.append(.item(sequence), [], nil, sequence: sequence, index: index, older: nil)
        }
        folder.bytes = Array(folder.bytes[..<log.contents.end]) + writer.bytes + [UInt8](repeating: 0, count: 4096)
        let read = try folder.open(readOnly: true, limits: limits)
        #expect(read.sequence == UInt64(limits.changes) + 1)
        #expect(read.report.end == .torn(bytes: 100 * (Frame.headerSize + 28)))
    }

    @Test func hugeFileWithoutFrames_isRefused_andASparseOneRead() throws {
        let folder = LogFolder()
        _ = try folder.create([1: "one"])
        truncate(folder.log, 64 << 20)
        #expect(try folder.open(known: 1).read() == [1: "one"])
        truncate(folder.log, 5 << 30)
        refused(.limitExceeded) { _ = try folder.open() }
    }
}
