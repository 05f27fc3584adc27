import Foundation
import Testing

@testable import KeychaindLog

/// The format as docs/log-format.md describes it: a reader written from that page finds the same.
@Suite(.lockedPool) struct LogFormatTests {
    private struct Printed: Decodable {
        let base: UInt64
        let horizon: UInt64
        let damaged: Bool
        let records: [String: Record?]

        /// The texts of the records, by number; damaged ones are missing.
        var texts: Contents {
            var texts: Contents = [:]
            for (id, record) in records {
                guard let record, let number = id.split(separator: "/").last.flatMap({ UInt64($0) }) else { continue }
                texts[number] = record.metadata
            }
            return texts
        }
    }

    /// The sequence and the parts of a record.
    private struct Record: Decodable {
        let metadata: String

        init(from decoder: any Decoder) throws {
            var parts = try decoder.unkeyedContainer()
            _ = try parts.decode(UInt64.self)
            _ = try parts.decode(String.self)
            let digits = Array(try parts.decode(String.self))
            let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place in
                UInt8(String(digits[place...place + 1]), radix: 16)
            }
            metadata = String(decoding: bytes, as: UTF8.self)
        }
    }

    private func read(_ folder: LogFolder) throws -> Printed {
        let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("read_log.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [reader.path, folder.log, String(repeating: "01", count: 32)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Printed.self, from: printed)
    }

    @Test func otherReader_findsTheSame() throws {
        let folder = LogFolder()
        let log = try folder.create([1: "one", 2: "two", 3: "three"])
        try log.commit(.put(1, "uno", erasesPast: true), .remove(2))
        try log.finishErasing()
        try log.commit(.put(4, "four"))
        #expect(try read(folder).texts == log.read())
        try log.rewrite(Rewriting(), .test)
        try log.commit(.put(5, "five"))
        let contents = try read(folder)
        #expect(contents.base == 6 && contents.horizon == 6 && !contents.damaged)
        #expect(try contents.texts == log.read())
    }

    @Test func otherReader_findsTheSameInDamagedAndCutFiles() throws {
        let folder = LogFolder()
        var log = try Optional(folder.create())
        for number in UInt64(1)...5 { try log?.commit(.put(number, "record \(number)"), .put(10 + number, "second")) }
        let end = log?.contents.end ?? 0
        log = nil
        let bytes = folder.bytes
        for place in stride(from: LogHeader.end, to: end, by: 131) {
            var damaged = bytes
            damaged[place] ^= 1
            folder.bytes = damaged
            #expect(try read(folder).texts == folder.open(readOnly: true).read(checksSecrets: false), "byte \(place)")
            folder.bytes = Array(bytes[..<place])
            #expect(try read(folder).texts == folder.open(readOnly: true).read(checksSecrets: false), "\(place) bytes")
        }
    }
}
