import CGcrypt
import Glibc

/// Bytes that are wiped when they go away: a key, a password, a secret.
///
/// It cannot be copied by accident, has no description, and gives its bytes only to a closure.
///
/// `@unchecked Sendable`: the one owner of the memory is this value, which cannot be copied, and writing to it needs it
/// exclusively, so whoever has it may use it on any thread.
package struct SecureBytes: ~Copyable, @unchecked Sendable {
    /// Where the bytes live.
    package enum Memory: Sendable {
        /// The ordinary heap: for the secrets of items, which are many and large.
        case ordinary

        /// libgcrypt's small pool, locked into memory so that it never reaches swap space: for keys and passwords.
        case locked
    }

    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private let memory: Memory

    /// The number of bytes.
    package private(set) var count: Int

    /// Whether there are no bytes.
    package var isEmpty: Bool { count == 0 }

    /// Allocates bytes that are zero.
    ///
    /// Throws ``GcryptError/Code/outOfLockedMemory`` when the pool is used up, ``GcryptError/Code/outOfMemory`` when the heap is.
    package init(count: Int, in memory: Memory = .ordinary) throws(GcryptError) {
        guard count >= 0 else {
            throw GcryptError(.invalidParameters, reason: "\(count) secure bytes")
        }
        // At least one byte, so that there is an address to hold on to.
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
            throw GcryptError(code, reason: "no room for \(count) bytes")
        }
        base = allocation
        capacity = size
        self.memory = memory
        self.count = count
    }

    /// Copies bytes, whose original remains the caller's to wipe.
    package init(copying bytes: UnsafeRawBufferPointer, in memory: Memory = .ordinary) throws(GcryptError) {
        try self.init(count: bytes.count, in: memory)
        if let source = bytes.baseAddress {
            base.copyMemory(from: source, byteCount: bytes.count)
        }
    }

    /// Copies bytes of an array, which remains as it is: for what is not secret, such as a salt, or no longer worth hiding.
    package init(copying bytes: [UInt8], in memory: Memory = .ordinary) throws(GcryptError) {
        try self.init(count: bytes.count, in: memory)
        UnsafeMutableRawBufferPointer(start: base, count: count).copyBytes(from: bytes)
    }

    /// Makes random bytes, good for a key.
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

    /// Gives the bytes to a closure, which must not keep the pointer.
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Gives the bytes to a closure that changes them and must not keep the pointer.
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    /// Copies the bytes to other memory.
    package borrowing func copy(in memory: Memory) throws(GcryptError) -> SecureBytes {
        try SecureBytes(copying: UnsafeRawBufferPointer(start: base, count: count), in: memory)
    }

    /// Tells whether the bytes are the same, in a time that depends on their number only.
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

    /// Drops the first bytes: the others move up, and what they leave is wiped.
    package mutating func removeFirst(_ dropped: Int) {
        guard dropped > 0, dropped <= count else { return }
        memmove(base, base + dropped, count - dropped)
        truncate(to: count - dropped)
    }

    /// Drops the bytes past a count, and wipes them.
    mutating func truncate(to newCount: Int) {
        guard newCount >= 0, newCount < count else { return }
        explicit_bzero(base + newCount, count - newCount)
        count = newCount
    }
}
