import CKeychaindGcrypt
import Glibc

/// Bytes that are wiped on deinit: a key, a password or a secret.
///
/// The type is not copyable, has no description, and exposes its bytes only to closures.
///
/// `@unchecked Sendable`: the value is the only owner of the memory, and writing needs exclusive access.
package struct SecureBytes: ~Copyable, @unchecked Sendable {
    package enum Memory: Sendable {
        /// The heap, for the secrets of items, which are many and large.
        case ordinary

        /// libgcrypt's small locked pool, which is never swapped, for keys and passwords.
        case locked
    }

    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    package let memory: Memory

    package private(set) var count: Int

    package var isEmpty: Bool { count == 0 }

    /// Allocates zeroed bytes.
    ///
    /// Throws ``GcryptError/Code/outOfLockedMemory`` or ``GcryptError/Code/outOfMemory`` if there is no room.
    package init(count: Int, in memory: Memory = .ordinary) throws(GcryptError) {
        guard count >= 0 else {
            throw GcryptError(.invalidParameters, reason: "cannot allocate \(count) bytes")
        }
        // At least one byte, for a valid address.
        let size = max(count, 1)
        let allocation: UnsafeMutableRawPointer?
        switch memory {
        case .ordinary:
            allocation = calloc(size, 1)
        case .locked:
            try Gcrypt.initializeIfNeeded()
            allocation = gcry_calloc_secure(size, 1)
        }
        guard let allocation else {
            let code: GcryptError.Code = memory == .locked ? .outOfLockedMemory : .outOfMemory
            throw GcryptError(code, reason: "no memory for \(count) bytes")
        }
        base = allocation
        capacity = size
        self.memory = memory
        self.count = count
    }

    /// Copies bytes; the caller wipes the original.
    package init(copying bytes: UnsafeRawBufferPointer, in memory: Memory = .ordinary) throws(GcryptError) {
        try self.init(count: bytes.count, in: memory)
        if let source = bytes.baseAddress {
            base.copyMemory(from: source, byteCount: bytes.count)
        }
    }

    /// Copies an array, which is not wiped: for public bytes, such as a salt.
    package init(copying bytes: [UInt8], in memory: Memory = .ordinary) throws(GcryptError) {
        try self.init(count: bytes.count, in: memory)
        UnsafeMutableRawBufferPointer(start: base, count: count).copyBytes(from: bytes)
    }

    package static func random(count: Int, in memory: Memory = .ordinary) throws(GcryptError) -> SecureBytes {
        let bytes = try SecureBytes(count: count, in: memory)
        try RandomBytes.fill(UnsafeMutableRawBufferPointer(start: bytes.base, count: count))
        return bytes
    }

    deinit {
        explicit_bzero(base, capacity)
        switch memory {
        case .ordinary: free(base)
        case .locked: gcry_free(base)
        }
    }

    /// The closure must not keep the pointer.
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The closure must not keep the pointer.
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    package borrowing func copy(in memory: Memory) throws(GcryptError) -> SecureBytes {
        try SecureBytes(copying: UnsafeRawBufferPointer(start: base, count: count), in: memory)
    }

    /// Whether the bytes are equal, in a time that depends only on their count.
    package borrowing func isEqual(to other: borrowing SecureBytes) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<count {
            difference |=
                base.load(fromByteOffset: index, as: UInt8.self)
                ^ other.base.load(fromByteOffset: index, as: UInt8.self)
        }
        return difference == 0
    }

    /// Removes the first bytes, moves the rest up and wipes the gap.
    package mutating func removeFirst(_ dropped: Int) {
        guard dropped > 0, dropped <= count else { return }
        memmove(base, base + dropped, count - dropped)
        truncate(to: count - dropped)
    }

    /// Removes and wipes the bytes past a count.
    package mutating func truncate(to newCount: Int) {
        guard newCount >= 0, newCount < count else { return }
        explicit_bzero(base + newCount, count - newCount)
        count = newCount
    }
}

/// Overwrites a buffer with zeros; the compiler does not optimize it away.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    explicit_bzero(base, buffer.count)
}

extension Array where Element == UInt8 {
    /// Creates an array in uninitialized memory, which the closure fills.
    ///
    /// Wiped if the closure throws: it may hold a plaintext.
    init(
        capacity: Int,
        writing body: (UnsafeMutableRawBufferPointer) throws(GcryptError) -> Void
    ) throws(GcryptError) {
        var failure: GcryptError?
        self = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<capacity])
            do throws(GcryptError) {
                try body(bytes)
                count = capacity
            } catch {
                wipe(bytes)
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
