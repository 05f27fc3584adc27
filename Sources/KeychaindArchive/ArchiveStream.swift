import Glibc
import KeychaindFiles
package import KeychaindGcrypt

/// The chunks of an archive's content, in the order of the file.
///
/// The nonce is the number of the chunk and a mark of the last one, so that chunks cannot be dropped, repeated or
/// reordered; the key is used for one archive only.
enum ArchiveChunk {
    /// Of the plaintext; only the last chunk has fewer.
    static let size = 64 << 10

    static let tagSize = SealingKey.overhead - SealingKey.nonceSize

    static func nonce(_ number: UInt64, isLast: Bool) -> [UInt8] {
        var nonce: [UInt8] = [0, 0, 0]
        nonce.append(bigEndian: number)
        return nonce + [isLast ? 1 : 0]
    }
}

/// Encrypts content into the chunks of a file.
package struct ArchiveOutput: ~Copyable {
    private let descriptor: CInt
    private let key: SealingKey
    private let header: [UInt8]
    private var chunk: SecureBytes
    private var count = 0
    private var number: UInt64 = 0

    /// Writes the header.
    ///
    /// - Parameter descriptor: a file to write at its position; stays open.
    package init(_ descriptor: CInt, header: ArchiveHeader, key: borrowing SecureBytes) throws(ArchiveError) {
        try Self.write(header.bytes[...], to: descriptor)
        let sealingKey = try archiving { () throws(GcryptError) in try SealingKey(key) }
        let chunk = try archiving { () throws(GcryptError) in try SecureBytes(count: ArchiveChunk.size) }
        self.key = sealingKey
        self.chunk = chunk
        self.descriptor = descriptor
        self.header = header.bytes
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A full chunk waits for what follows, which decides whether it is the last.
            if count == ArchiveChunk.size { try flush(isLast: false) }
            let size = min(rest.count, ArchiveChunk.size - count)
            let start = count
            chunk.withUnsafeMutableBytes { chunk in
                UnsafeMutableRawBufferPointer(rebasing: chunk[start..<(start + size)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<(rest.startIndex + size)]))
            }
            count += size
            rest = rest.dropFirst(size)
        }
    }

    /// Writes the last chunk; a file without it is truncated.
    package mutating func finish() throws(ArchiveError) {
        try flush(isLast: true)
    }

    private mutating func flush(isLast: Bool) throws(ArchiveError) {
        let nonce = ArchiveChunk.nonce(number, isLast: isLast)
        let (header, count) = (header, count)
        let sealed = try archiving { () throws(GcryptError) in
            try chunk.withUnsafeBytes { (chunk) throws(GcryptError) in
                try header.span.withUnsafeBytes { (header) throws(GcryptError) in
                    try key.seal(
                        UnsafeRawBufferPointer(rebasing: chunk[..<count]),
                        associatedData: header,
                        nonce: nonce
                    )
                }
            }
        }
        // The reader knows the nonce.
        try Self.write(sealed[SealingKey.nonceSize...], to: descriptor)
        number += 1
        self.count = 0
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) throws(ArchiveError) {
        guard bytes.withUnsafeBytes({ FileBytes.write($0, to: descriptor) }) else {
            throw ArchiveError(.inputOutput, reason: "it cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}

/// Decrypts the chunks of a file into content.
struct ArchiveInput: ~Copyable {
    private let descriptor: CInt
    private let key: SealingKey
    private let header: [UInt8]
    private var chunk: SecureBytes
    /// The bounds of the unread content in `chunk`.
    private var unread = 0..<0
    private var number: UInt64 = 0
    /// The sealed chunk after the present one, read ahead to know which is the last; empty at the end of the file.
    private var next: [UInt8]
    private var isFinished = false

    private static let sealedSize = ArchiveChunk.size + ArchiveChunk.tagSize

    init(_ descriptor: CInt, header: ArchiveHeader, key: borrowing SecureBytes) throws(ArchiveError) {
        let first = try Self.read(Self.sealedSize, from: descriptor)
        guard !first.isEmpty else { throw ArchiveError(.truncated, reason: "it ends after its header") }
        let sealingKey = try archiving { () throws(GcryptError) in try SealingKey(key) }
        let chunk = try archiving { () throws(GcryptError) in try SecureBytes(count: ArchiveChunk.size) }
        self.key = sealingKey
        self.chunk = chunk
        self.descriptor = descriptor
        self.header = header.bytes
        next = first
    }

    /// Whether all content has been read.
    var isAtEnd: Bool { isFinished && unread.isEmpty }

    /// Fills the buffer; throws `truncated` or `damaged`.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
        var filled = 0
        while filled < buffer.count {
            if unread.isEmpty { try openNext() }
            let size = min(buffer.count - filled, unread.count)
            let start = unread.lowerBound
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + size)])
            chunk.withUnsafeBytes { chunk in
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk[start..<(start + size)]))
            }
            unread = (start + size)..<unread.upperBound
            filled += size
        }
    }

    private mutating func openNext() throws(ArchiveError) {
        guard !isFinished else { throw ArchiveError(.damaged, reason: "its content ends in a record") }
        let sealed = next
        next = sealed.count == Self.sealedSize ? try Self.read(Self.sealedSize, from: descriptor) : []
        let isLast = next.isEmpty
        guard let size = try open(sealed, isLast: isLast) else {
            if isLast, try open(sealed, isLast: false) != nil {
                throw ArchiveError(.truncated, reason: "its end is missing")
            }
            let isShort = isLast && sealed.count < Self.sealedSize
            throw ArchiveError(.damaged, reason: isShort ? "it is cut off or damaged" : "it is damaged")
        }
        unread = 0..<size
        number += 1
        isFinished = isLast
    }

    /// Returns the size of the plaintext; nil if the chunk does not belong here.
    private mutating func open(_ sealed: [UInt8], isLast: Bool) throws(ArchiveError) -> Int? {
        let message = ArchiveChunk.nonce(number, isLast: isLast) + sealed
        let header = header
        do throws(GcryptError) {
            return try chunk.withUnsafeMutableBytes { (chunk) throws(GcryptError) in
                try message.span.withUnsafeBytes { (message) throws(GcryptError) in
                    try header.span.withUnsafeBytes { (header) throws(GcryptError) in
                        try key.open(message, associatedData: header, into: chunk)
                    }
                }
            }
        } catch {
            guard error.code == .authenticationFailed else { throw ArchiveError(error) }
            return nil
        }
    }

    /// Reads a number of bytes, or fewer at the end of the file.
    static func read(_ count: Int, from descriptor: CInt) throws(ArchiveError) -> [UInt8] {
        guard let bytes = FileBytes.read(descriptor, most: count) else {
            throw ArchiveError(.inputOutput, reason: "it cannot be read: \(String(cString: strerror(errno)))")
        }
        return bytes
    }
}
