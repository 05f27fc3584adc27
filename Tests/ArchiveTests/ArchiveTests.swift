import Foundation
import KeychaindArchive
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite("Archives")
struct ArchiveTests {
    @Test("An archive returns keychains and items as they were written")
    func archive_returnsItems() throws {
        let file = try ArchiveFile()
        try file.write { (writer) throws(ArchiveError) in
            try writer.append(keychain: ArchivedKeychain(label: "Empty", created: nil, modified: 7))
            try writer.append(keychain: ArchivedKeychain(label: "Löhne 💶", created: 1, modified: 2))
            try writer.append(
                label: "Bank",
                attributes: ["user": "anna", "": "", "xdg:schema": "org.example"],
                created: 5,
                modified: nil,
                contentType: "text/plain",
                bytes: Array("s3cret".utf8)
            )
            try writer.append(
                label: "",
                attributes: [:],
                created: 0,
                modified: 0,
                contentType: "",
                bytes: []
            )
        }
        var reader = try file.reader()
        let bank = try #require(try reader.next()?.plain)
        #expect(
            bank
                == PlainItem(
                    keychain: "Löhne 💶",
                    label: "Bank",
                    attributes: ["user": "anna", "": "", "xdg:schema": "org.example"],
                    secret: Array("s3cret".utf8),
                    contentType: "text/plain",
                    created: 5,
                    modified: nil
                )
        )
        let bare = try #require(try reader.next()?.plain)
        #expect(bare.label.isEmpty && bare.secret.isEmpty && bare.created == 0)
        #expect(try reader.next()?.plain == nil)
        let labels = reader.keychains.map(\.label)
        #expect(labels == ["Empty", "Löhne 💶"])
    }

    @Test("Secrets of any size fit, whole chunks among them", arguments: [0, 1, 65_400, 65_536, 131_072, 5 << 20])
    func secret_anySize_isKept(size: Int) throws {
        let file = try ArchiveFile()
        let secret = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try file.write(secrets: [secret, secret])
        var reader = try file.reader()
        #expect(try reader.next()?.plain.secret == secret)
        #expect(try reader.next()?.plain.secret == secret)
        #expect(try reader.next()?.plain == nil)
    }

    @Test("More than a reader takes is not written", arguments: [(2, 3), (3, 2)])
    func limits_areTheSameForWriterAndReader(items: Int, secretBytes: Int) throws {
        var limits = ArchiveLimits()
        (limits.items, limits.secretBytes) = (UInt64(items), secretBytes)
        let file = try ArchiveFile()
        #expect(throws: ArchiveError.self) { try file.write(secrets: [[1], [2], [3]], limits: limits) }
        try file.write(secrets: [[1], [2]], limits: limits)
        var whole = try file.reader(limits: limits)
        #expect(try whole.next() != nil && whole.next() != nil && whole.next() == nil)
        try file.write(secrets: [[1], [2], [3]])
        var larger = try file.reader(limits: limits)
        #expect(try larger.next() != nil && larger.next() != nil)
        #expect(throws: ArchiveError.self) { _ = try larger.next() }
    }

    @Test("A wrong password is told from damage")
    func password_wrong_isTold() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[1]])
        #expect(throws: ArchiveError(.wrongPassword, reason: "")) { try file.count(password: "other") }
        #expect(throws: ArchiveError(.wrongPassword, reason: "")) { try file.count(password: "") }
    }

    @Test("Each changed byte is noticed, and none is taken for a wrong password in the header")
    func byte_flipped_isNoticed() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[1, 2, 3]])
        let bytes = try file.bytes()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            try file.replace(changed)
            let error = #expect(throws: ArchiveError.self) { try file.count() }
            let expected: [ArchiveError.Code] =
                switch index {
                case 0..<4: [.notAnArchive]
                case 4..<8: [.unsupported]
                default: [.damaged]
                }
            #expect(error.map { expected.contains($0.code) } == true, "byte \(index): \(String(describing: error))")
        }
    }

    @Test("An archive that ends early is noticed, wherever it ends")
    func archive_truncated_isNoticed() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[UInt8](repeating: 7, count: 200_000)])
        let bytes = try file.bytes()
        let chunk = 65_552
        for length in [0, 3, 4, 67, 68, 69, 68 + chunk - 1, 68 + chunk, 68 + 2 * chunk, bytes.count - 1] {
            try file.replace(Array(bytes[..<length]))
            let error = #expect(throws: ArchiveError.self) { try file.count() }
            let codes: [ArchiveError.Code] = length < 4 ? [.notAnArchive] : [.truncated, .damaged]
            #expect(error.map { codes.contains($0.code) } == true, "\(length): \(String(describing: error))")
            if [68, 68 + chunk, 68 + 2 * chunk].contains(length) { #expect(error?.code == .truncated) }
        }
    }

    @Test("Chunks that were swapped, repeated, left out or appended are noticed")
    func chunks_reordered_areNoticed() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[UInt8](repeating: 7, count: 300_000)])
        let bytes = try file.bytes()
        let header = Array(bytes[..<68])
        let chunks = stride(from: 68, to: bytes.count, by: 65_552).map { start in
            Array(bytes[start..<min(start + 65_552, bytes.count)])
        }
        let last = chunks.count - 1
        let orders = [
            [1, 0] + Array(2...last), [0, 0] + Array(1...last), [0] + Array(2...last), Array(0...last) + [last],
        ]
        for order in orders {
            try file.replace(header + order.flatMap { chunks[$0] })
            #expect(throws: ArchiveError(.damaged, reason: "")) { try file.count() }
        }
    }

    @Test("A header that demands too much work is refused before the work")
    func header_expensive_isRefused() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[1]])
        let bytes = try file.bytes()
        for cost in [
            [UInt32.max, 1, 1], [1 << 20, 64, 1], [64, UInt32.max, 1], [64, 1, 17], [0, 1, 1], [64, 0, 1], [64, 1, 0],
        ] {
            var header = Array(bytes[..<8])
            for number in cost { withUnsafeBytes(of: number.bigEndian) { header.append(contentsOf: $0) } }
            header += bytes[20..<60]
            header += try HashFunction.sha256.digest(of: header).prefix(8)
            try file.replace(header + bytes[68...])
            #expect(throws: ArchiveError(.unsupported, reason: "")) { try file.count() }
        }
    }

    @Test("Random bytes are never an archive, and never a crash")
    func archive_random_isRefused() throws {
        let file = try ArchiveFile()
        try file.write(secrets: [[1]])
        let valid = try file.bytes()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let noise = (0..<Int.random(in: 0...400)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            try file.replace(Array(valid.prefix(Int.random(in: 0...valid.count - 1))) + noise)
            #expect(throws: ArchiveError.self) { try file.count() }
        }
    }

    @Test("Malformed records of somebody who knows the password are refused")
    func records_malformed_areRefused() throws {
        let contents: [[UInt8]] = [
            [], [3, 0, 0, 0, 0], [9, 0, 0, 0, 0], [2, 0, 0, 0, 0], [1, 0xff, 0xff, 0xff, 0xff], [1, 0, 0, 0, 1, 0],
            [1, 0, 0, 0, 20] + [UInt8](repeating: 0, count: 16) + [0xff, 0xff, 0xff, 0xff],
            [3, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 11) + [1],
            [3, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + [0],
            [1, 0, 0, 0, 21] + [UInt8](repeating: 0, count: 19) + [1, 0xff],
            [1, 0, 0, 0, 21] + [UInt8](repeating: 0, count: 19) + [1, 0],
        ]
        for content in contents {
            let file = try ArchiveFile()
            try file.write(content: content)
            #expect(throws: ArchiveError(.damaged, reason: ""), "\(content)") { try file.count() }
        }
    }

    @Test("The page on the format describes the archive: another reader opens it")
    func archive_otherReader_opens() async throws {
        let file = try ArchiveFile()
        try file.write(secrets: [Array("hello".utf8), [UInt8](repeating: 9, count: 100_000)])
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/read_archive.py"
        let result = try await Command.run("/usr/bin/python3", [script, file.path, "password"])
        let items = ["5", "100000"].map { "item label {'a': 'b'} text/plain \($0)\n" }
        #expect(result.text == "keychain login\n" + items.joined())
        #expect(result.succeeded, "\(result.errors)")
    }
}
