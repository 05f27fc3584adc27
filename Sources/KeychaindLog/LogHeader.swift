import KeychaindGcrypt

/// The header of a file, which is twice in it: at the start and a page later.
///
/// Big-endian: `KCHNLOG` and a zero byte (8), format (4), application (4), uuid (16), epoch (16), base (8),
/// horizon (8), mark of these (16).
struct LogHeader: Equatable, Sendable {
    static let size = 80
    static let copyOffset = 4096

    /// Where the frames begin.
    static let end = copyOffset + size

    private static let magic: UInt64 = 0x4b43_484e_4c4f_4700
    private static let format: UInt32 = 1

    let application: UInt32

    /// The identifier of the log, which compaction keeps.
    let uuid: [UInt8]

    /// The last sequence when the file was made, and the first whose state it has.
    let base: UInt64, horizon: UInt64

    /// The mark of the header, to which all frames are bound, and the header as it is stored.
    let mark: Mark, bytes: [UInt8]

    /// Makes a header with a random epoch, so that frames of an earlier file of the log do not fit.
    init(application: UInt32, uuid: [UInt8], base: UInt64, horizon: UInt64) throws(LogError) {
        guard uuid.count == 16 else { throw LogError(.invalidChange, "an identifier has 16 bytes") }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: UInt64(Self.format) << 32 | UInt64(application))
        do throws(GcryptError) { bytes += try uuid + RandomBytes.nonce(16) } catch { throw LogError(error) }
        for number in [base, horizon] { bytes.append(bigEndian: number) }
        mark = try bytes.span.withUnsafeBytes { (bytes) throws(LogError) in try Mark(of: bytes) }
        (self.application, self.uuid, self.base, self.horizon) = (application, uuid, base, horizon)
        self.bytes = bytes + mark.bytes
    }

    /// Nil if the bytes are no header; throws `unsupportedFormat` for one of a later version.
    init?(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        guard bytes.count == Self.size, bytes.integer(at: 0) == Self.magic else { return nil }
        mark = Mark(reading: bytes, at: 64)
        guard try Mark(of: bytes.part(0..<64)) == mark else { return nil }
        guard bytes.integer(at: 8) == Self.format else {
            throw LogError(.unsupportedFormat, "the file has a format of a later version")
        }
        (application, uuid, self.bytes) = (bytes.integer(at: 12), Array(bytes[16..<32]), Array(bytes))
        (base, horizon) = (bytes.integer(at: 48), bytes.integer(at: 56))
    }
}

/// The first 16 bytes of a SHA-256 digest.
struct Mark: Equatable, Sendable {
    static let size = 16

    private let halves: SIMD2<UInt64>

    init(of bytes: UnsafeRawBufferPointer) throws(LogError) {
        var digest = (SIMD2<UInt64>(), SIMD2<UInt64>())
        do throws(GcryptError) {
            try withUnsafeMutableBytes(of: &digest) { (digest) throws(GcryptError) in
                try HashFunction.sha256.digest(of: bytes, to: digest)
            }
        } catch { throw LogError(error) }
        halves = digest.0
    }

    init(reading bytes: UnsafeRawBufferPointer, at offset: Int) {
        halves = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
    }

    var bytes: [UInt8] { withUnsafeBytes(of: halves) { Array($0) } }

    func write(to buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
        buffer.storeBytes(of: halves, toByteOffset: offset, as: SIMD2<UInt64>.self)
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in append(contentsOf: bytes) }
    }
}

extension UnsafeMutableRawBufferPointer {
    func set(_ value: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: type(of: value))
    }

    func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer { .init(rebasing: self[range]) }
}

extension UnsafeRawBufferPointer {
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
        Value(bigEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }

    /// The number of bytes up to the last one that is not zero.
    var usedCount: Int {
        var end = count
        while end >= 8, loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
        return self[..<end].lastIndex { byte in byte != 0 }.map { last in last + 1 } ?? 0
    }

    var isZero: Bool { usedCount == 0 }
}
