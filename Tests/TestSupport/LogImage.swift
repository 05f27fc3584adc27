import Foundation
import KeychaindGcrypt
import Testing

/// The frames of a log, found without its key, to damage them as a disk or another program may.
package struct LogImage {
    package struct Frame {
        package let kind: UInt8
        package let number: UInt64
        package let sequence: UInt64
        package let isRemoval: Bool

        /// All of the frame, and its parts.
        package let range: Range<Int>, open: Range<Int>, metadata: Range<Int>, secret: Range<Int>
    }

    package static let firstFrame = 4176
    package static let slots: UInt8 = 1
    package static let item: UInt8 = 2
    package static let state: UInt8 = 3

    package var bytes: [UInt8]
    package let frames: [Frame]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        func integer(_ place: Int, _ count: Int) -> UInt64 {
            bytes[place..<place + count].reduce(0) { value, byte in value << 8 | UInt64(byte) }
        }
        var frames: [Frame] = []
        var place = Self.firstFrame
        while place + 96 <= bytes.count, bytes[place..<place + 4].elementsEqual("KCFR".utf8) {
            let sizes = [12, 16, 20].map { offset in Int(integer(place + offset, 4)) }
            let open = place + 96 + sizes[0]
            let metadata = open + sizes[1]
            let end = metadata + sizes[2]
            frames.append(
                Frame(
                    kind: bytes[place + 4],
                    number: integer(place + 32, 8),
                    sequence: integer(place + 24, 8),
                    isRemoval: bytes[place + 5] & 2 != 0,
                    range: place..<end,
                    open: place + 96..<open,
                    metadata: open..<metadata,
                    secret: metadata..<end
                )
            )
            place = end
        }
        self.frames = frames
    }

    /// The end of the last frame.
    package var end: Int { frames.last?.range.upperBound ?? Self.firstFrame }

    /// The frames of a record, the latest last.
    package func frames(_ kind: UInt8, _ number: UInt64) -> [Frame] {
        frames.filter { frame in frame.kind == kind && frame.number == number }
    }

    package func last(_ kind: UInt8, _ number: UInt64) throws -> Frame { try #require(frames(kind, number).last) }

    /// The slots of the first record: number (8), kind (8), length (4), parameters, length (4), wrapped key, checksum
    /// (8).
    package struct Slot {
        package let number: UInt64
        package let kind: UInt64
        package var parameters: [UInt8]
        package var wrapped: [UInt8]
        package var checksum: [UInt8]

        package init(number: UInt64, kind: UInt64, parameters: [UInt8], wrapped: [UInt8], checksum: [UInt8]) {
            self.number = number
            self.kind = kind
            self.parameters = parameters
            self.wrapped = wrapped
            self.checksum = checksum
        }
    }

    package func slots() throws -> [Slot] {
        var place = try last(Self.slots, 0).open.lowerBound
        func integer(_ count: Int) -> UInt64 {
            defer { place += count }
            return bytes[place..<place + count].reduce(0) { value, byte in value << 8 | UInt64(byte) }
        }
        func part(_ count: Int) -> [UInt8] {
            defer { place += count }
            return Array(bytes[place..<place + count])
        }
        _ = integer(8)
        return (0..<integer(2)).map { _ in
            let (number, kind) = (integer(8), integer(8))
            let parameters = part(Int(integer(4)))
            let wrapped = part(Int(integer(4)))
            return Slot(number: number, kind: kind, parameters: parameters, wrapped: wrapped, checksum: part(8))
        }
    }

    package func slotKinds() throws -> [UInt64] { try slots().map(\.kind) }

    /// Writes slots into both records, as far as there is room.
    package mutating func write(_ slots: [Slot]) throws {
        func integer(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { index in UInt8(truncatingIfNeeded: value >> (8 * index)) }
        }
        var encoded = integer(slots.map { Int($0.number) }.max() ?? 0, 8) + integer(slots.count, 2)
        for slot in slots {
            encoded += integer(Int(slot.number), 8) + integer(Int(slot.kind), 8)
            for part in [slot.parameters, slot.wrapped] { encoded += integer(part.count, 4) + part }
            encoded += slot.checksum
        }
        for number: UInt64 in 0...1 {
            let open = try last(Self.slots, number).open
            try #require(encoded.count <= open.count)
            zero(open)
            bytes.replaceSubrange(open.lowerBound..<open.lowerBound + encoded.count, with: encoded)
        }
    }

    /// The checksum of a slot, which anybody can make.
    package func checksum(_ slot: Slot) throws -> [UInt8] {
        var message: [UInt8] = []
        for value in [slot.number, slot.kind] { withUnsafeBytes(of: value.bigEndian) { message += $0 } }
        withUnsafeBytes(of: UInt32(slot.parameters.count).bigEndian) { message += $0 }
        message += slot.parameters + slot.wrapped
        let authenticator = try HMACSHA256(key: SecureBytes(copying: Array(bytes[16..<32])))
        let code = try SecureBytes(copying: message).withUnsafeBytes { bytes in try authenticator.authenticate(bytes) }
        return Array(code.prefix(8))
    }

    package mutating func flip(_ place: Int) { bytes[place] ^= 0x10 }

    package mutating func zero(_ range: Range<Int>) {
        bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
    }

    package init(at path: String) throws { self.init(Array(try Data(contentsOf: URL(fileURLWithPath: path)))) }

    /// Writes into a file, also while it is in use, as a disk may lose what it had.
    package static func overwrite(_ range: Range<Int>, of path: String, with byte: UInt8 = 0) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(range.lowerBound))
        try handle.write(contentsOf: [UInt8](repeating: byte, count: range.count))
        try handle.close()
    }
}
