package import KeychaindGcrypt

/// The name of a record: its kind, which the application chooses, and a number below 2⁵⁶.
package struct RecordID: Hashable, Sendable, CustomStringConvertible {
    private let packed: UInt64

    package var kind: UInt8 { UInt8(packed >> 56) }
    package var number: UInt64 { packed & (1 << 56 - 1) }
    package var description: String { "\(kind)/\(number)" }

    /// The name of no record.
    static let none = RecordID(kind: 0, number: 0).unsafelyUnwrapped

    /// Nil if the number is too large.
    package init?(kind: UInt8, number: UInt64) {
        guard number < 1 << 56 else { return nil }
        packed = UInt64(kind) << 56 | number
    }
}

/// The header of a frame, which stays readable when the rest of the frame is damaged or erased.
///
/// Big-endian: `KCFR` (4), kind (1), flags (1), zeros (2), frames before it in its commit (4), sizes of the open, the
/// sealed and the secret part (4 each), sequence (8), number (8), offset of the record's older frame (8), mark of the
/// frame before (16), mark of the parts (16), mark of the mark of the file header and these (16).
struct Frame: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        static let endsCommit = Flags(rawValue: 1)
        static let removesRecord = Flags(rawValue: 2)

        /// Older frames of the record are erased.
        static let erasesPast = Flags(rawValue: 4)
    }

    static let headerSize = 96
    static let magic: UInt32 = 0x4b43_4652

    let id: RecordID
    let flags: Flags
    let index: UInt32
    let sequence: UInt64
    let older: Int

    /// The marks of the frame before, or of the file header; of the parts; of this header.
    let previous: Mark, content: Mark, mark: Mark

    let openRange: Range<Int>, metadataRange: Range<Int>, secretRange: Range<Int>

    var bodyRange: Range<Int> { Self.headerSize..<size }
    var size: Int { secretRange.upperBound }

    /// The sequence of the first frame of its commit.
    var commit: UInt64 { sequence &- UInt64(index) }

    /// Nil if the bytes are no header of a frame of the file, or the frame is larger than allowed.
    ///
    /// - Parameter file: nil if the seal will be opened, which says more than the mark.
    init?(_ bytes: UnsafeRawBufferPointer, file: Mark?, maximumSize: Int) throws(LogError) {
        guard bytes.count >= Self.headerSize, bytes.integer(at: 0) == Self.magic else { return nil }
        mark = Mark(reading: bytes, at: 80)
        if let file, try Self.mark(of: bytes, file: file) != mark { return nil }
        guard let id = RecordID(kind: bytes[4], number: bytes.integer(at: 32)),
            let older = Int(exactly: bytes.integer(at: 40) as UInt64)
        else { return nil }
        (self.id, self.older, flags) = (id, older, Flags(rawValue: bytes[5]))
        (index, sequence) = (bytes.integer(at: 8), bytes.integer(at: 24))
        (previous, content) = (Mark(reading: bytes, at: 48), Mark(reading: bytes, at: 64))
        let open = Self.headerSize + Int(bytes.integer(at: 12) as UInt32)
        let metadata = open + Int(bytes.integer(at: 16) as UInt32)
        let secret = metadata + Int(bytes.integer(at: 20) as UInt32)
        (openRange, metadataRange, secretRange) = (Self.headerSize..<open, open..<metadata, metadata..<secret)
        guard secret <= maximumSize, metadataRange.count >= SealingKey.overhead else { return nil }
    }

    /// Programs that cannot read the file do not know its mark, and cannot store what looks like a frame of it.
    static func mark(of header: UnsafeRawBufferPointer, file: Mark) throws(LogError) -> Mark {
        try withUnsafeTemporaryAllocation(byteCount: 96, alignment: 16) { message in
            file.write(to: message, at: 0)
            UnsafeMutableRawBufferPointer(rebasing: message[16...]).copyMemory(from: header.part(0..<80))
            return Result { () throws(LogError) in try Mark(of: UnsafeRawBufferPointer(message)) }
        }.get()
    }
}

/// The key that seals and authenticates a log.
package final class LogKey: Sendable {
    private let key: SealingKey

    package init(_ key: consuming SealingKey) { self.key = key }

    /// Seals bytes into a buffer that is ``SealingKey/overhead`` bytes longer.
    func seal(
        _ plaintext: [UInt8],
        _ associatedData: [UInt8],
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        do throws(GcryptError) {
            try plaintext.span.withUnsafeBytes { (plaintext) throws(GcryptError) in
                try associatedData.span.withUnsafeBytes { (data) throws(GcryptError) in
                    try key.seal(plaintext, associatedData: data, into: buffer)
                }
            }
        } catch { throw LogError(error) }
    }

    /// Opens sealed bytes into a buffer, and returns how many there are; throws `damaged` if they are not genuine.
    func open(
        _ sealed: UnsafeRawBufferPointer,
        _ associatedData: [UInt8],
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> Int {
        do throws(GcryptError) {
            return try associatedData.span.withUnsafeBytes { (data) throws(GcryptError) in
                try key.open(sealed, associatedData: data, into: buffer)
            }
        } catch { throw LogError(error) }
    }

    /// The mark of the file header, the frame up to the mark of its parts, the tag of the secret, the open part.
    static func associatedData(
        _ file: Mark,
        header: UnsafeRawBufferPointer,
        open: UnsafeRawBufferPointer,
        secret: UnsafeRawBufferPointer
    ) -> [UInt8] {
        let tag = secret.part(max(0, secret.count - 16)..<secret.count)
        return [UInt8](unsafeUninitializedCapacity: 80 + tag.count + open.count) { data, count in
            let data = UnsafeMutableRawBufferPointer(data)
            file.write(to: data, at: 0)
            count = 16
            for part in [header.part(0..<64), tag, open] {
                UnsafeMutableRawBufferPointer(rebasing: data[count...]).copyMemory(from: part)
                count += part.count
            }
        }
    }
}

/// Makes frames, each chained to the one before.
struct FrameWriter {
    private let file: Mark, maximumSize: Int, key: LogKey
    private var last: Mark
    var bytes: [UInt8] = []

    init(_ log: RecordLog, _ key: LogKey) {
        (file, last, maximumSize, self.key) = (log.header.mark, log.contents.last, log.limits.frameSize, key)
    }

    mutating func append(
        _ id: RecordID,
        _ flags: Frame.Flags,
        _ content: RecordContent?,
        sequence: UInt64,
        index: Int = 0,
        older: Int?
    ) throws(LogError) -> Frame {
        let content = content ?? RecordContent()
        let open = Frame.headerSize..<Frame.headerSize + content.open.count
        let metadata = open.upperBound..<open.upperBound + content.metadata.count + SealingKey.overhead
        let size = metadata.upperBound + content.secret.count
        guard size <= maximumSize else { throw LogError(.limitExceeded, "a record is too large") }
        let (file, last, maximumSize, key) = (file, last, maximumSize, key)
        var frame = [UInt8](repeating: 0, count: size)
        var span = frame.mutableSpan
        let header = try span.withUnsafeMutableBytes { (frame) throws(LogError) in
            frame.set(Frame.magic, at: 0)
            (frame[4], frame[5]) = (id.kind, flags.rawValue)
            frame.set(UInt32(index), at: 8)
            frame.set(UInt32(open.count), at: 12)
            frame.set(UInt32(metadata.count), at: 16)
            frame.set(UInt32(content.secret.count), at: 20)
            frame.set(sequence, at: 24)
            frame.set(id.number, at: 32)
            frame.set(UInt64(older ?? 0), at: 40)
            last.write(to: frame, at: 48)
            frame.part(open).copyBytes(from: content.open)
            frame.part(metadata.upperBound..<size).copyBytes(from: content.secret)
            let written = UnsafeRawBufferPointer(frame)
            let secret = written.part(metadata.upperBound..<size)
            let data = LogKey.associatedData(file, header: written, open: written.part(open), secret: secret)
            try key.seal(content.metadata, data, into: frame.part(metadata))
            try Mark(of: written.part(Frame.headerSize..<size)).write(to: frame, at: 64)
            try Frame.mark(of: written, file: file).write(to: frame, at: 80)
            return try Frame(written, file: nil, maximumSize: maximumSize)
        }
        guard let header else { throw LogError(.cryptographyFailed, "a digest is not the same twice") }
        self.last = header.mark
        bytes += frame
        return header
    }
}
