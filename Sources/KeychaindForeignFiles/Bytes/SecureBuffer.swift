import KeychaindGcrypt

/// Bytes that grow; what is left behind is wiped.
struct SecureBuffer: ~Copyable {
    private var storage: SecureBytes
    private(set) var count = 0

    init(capacity: Int = 256) throws(ForeignFileError) {
        storage = try SecureBuffer.allocate(max(capacity, 16))
    }

    subscript(index: Int) -> UInt8 {
        storage.withUnsafeBytes { $0[index] }
    }

    mutating func append(_ byte: UInt8) throws(ForeignFileError) {
        if count == storage.count { try grow(to: count + 1) }
        let index = count
        storage.withUnsafeMutableBytes { $0[index] = byte }
        count += 1
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ForeignFileError) {
        guard !bytes.isEmpty else { return }
        if bytes.count > storage.count - count { try grow(to: count + bytes.count) }
        let start = count
        storage.withUnsafeMutableBytes { storage in
            UnsafeMutableRawBufferPointer(rebasing: storage[start...]).copyMemory(from: bytes)
        }
        count += bytes.count
    }

    /// Appends a Unicode scalar as UTF-8.
    mutating func append(_ scalar: Unicode.Scalar) throws(ForeignFileError) {
        for byte in UTF8.encode(scalar).unsafelyUnwrapped { try append(byte) }
    }

    /// Wipes the content and keeps the memory.
    mutating func removeAll() {
        let end = count
        storage.withUnsafeMutableBytes { wipe(UnsafeMutableRawBufferPointer(rebasing: $0[..<end])) }
        count = 0
    }

    /// Wipes the content, and has a closure write another into the memory and return its size.
    mutating func replace<Failure: Error>(
        with body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        removeAll()
        count = try storage.withUnsafeMutableBytes { (storage) throws(Failure) in try body(storage) }
    }

    borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = count
        return try storage.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        }
    }

    private mutating func grow(to needed: Int) throws(ForeignFileError) {
        var larger = try SecureBuffer.allocate(max(needed, storage.count * 2))
        storage.withUnsafeBytes { old in larger.withUnsafeMutableBytes { $0.copyMemory(from: old) } }
        storage = larger
    }

    private static func allocate(_ size: Int) throws(ForeignFileError) -> SecureBytes {
        do throws(GcryptError) {
            return try SecureBytes(count: size)
        } catch {
            throw ForeignFileError(.outOfMemory, "there is no memory for \(size) bytes")
        }
    }
}
