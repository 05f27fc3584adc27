import Glibc
import KeychaindGcrypt
import Testing

@Suite(.lockedPool) struct SecureBytesTests {
    private static let memories: [SecureBytes.Memory] = [.ordinary, .locked]

    @Test(arguments: memories, [0, 1, 15, 16, 4096])
    func init_withCount_isZeroed(memory: SecureBytes.Memory, count: Int) throws {
        let bytes = try SecureBytes(count: count, in: memory)
        let isEmpty = bytes.isEmpty
        #expect(bytes.array() == [UInt8](repeating: 0, count: count))
        #expect(isEmpty == (count == 0))
    }

    @Test(arguments: memories)
    func init_memoryUsedBefore_isZeroed(memory: SecureBytes.Memory) throws {
        for _ in 0..<100 {
            var bytes = try SecureBytes(count: 48, in: memory)
            #expect(bytes.array() == [UInt8](repeating: 0, count: 48))
            _ = bytes.withUnsafeMutableBytes { $0.initializeMemory(as: UInt8.self, repeating: 0xff) }
        }
    }

    @Test(arguments: memories)
    func copying_bytes_areEqual(memory: SecureBytes.Memory) throws {
        let source: [UInt8] = [1, 2, 3, 0, 255]
        #expect(try SecureBytes(copying: source, in: memory).array() == source)
        #expect(try source.withUnsafeBytes { try SecureBytes(copying: $0, in: memory).array() } == source)
    }

    @Test(arguments: memories)
    func copying_nothing_isEmpty(memory: SecureBytes.Memory) throws {
        #expect(try SecureBytes(copying: nothing, in: memory).array().isEmpty)
        #expect(try SecureBytes(copying: [], in: memory).array().isEmpty)
        #expect(try SecureBytes.random(count: 0, in: memory).array().isEmpty)
    }

    @Test func count_negative_throws() {
        #expect(code { _ = try SecureBytes(count: -1) } == .invalidParameters)
        #expect(code { _ = try SecureBytes(count: .min, in: .locked) } == .invalidParameters)
        #expect(code { _ = try SecureBytes.random(count: -1) } == .invalidParameters)
    }

    @Test func count_exceedsMemory_throws() {
        #expect(code { _ = try SecureBytes(count: .max) } == .outOfMemory)
        #expect(code { _ = try SecureBytes(count: .max, in: .locked) } == .outOfLockedMemory)
    }

    @Test func copy_otherMemory_isEqualAndIndependent() throws {
        var original = try SecureBytes(copying: [1, 2, 3])
        let copy = try original.copy(in: .locked)
        original.withUnsafeMutableBytes { $0[0] = 9 }
        #expect(copy.array() == [1, 2, 3])
        #expect(original.array() == [9, 2, 3])
    }

    @Test func random_twice_differs() throws {
        let first = try SecureBytes.random(count: 32)
        let second = try SecureBytes.random(count: 32, in: .locked)
        #expect(first.array() != second.array())
    }

    @Test(arguments: memories)
    func removeFirst_some_keepsRest(memory: SecureBytes.Memory) throws {
        var bytes = try SecureBytes(copying: [1, 2, 3, 4, 5], in: memory)
        bytes.removeFirst(2)
        #expect(bytes.array() == [3, 4, 5])
        bytes.removeFirst(0)
        bytes.removeFirst(4)
        bytes.removeFirst(-1)
        #expect(bytes.array() == [3, 4, 5])
        bytes.removeFirst(3)
        let isEmpty = bytes.isEmpty
        #expect(isEmpty)
    }

    @Test func isEqual_sameBytes_isTrueAcrossMemories() throws {
        let first = try SecureBytes.random(count: 33)
        let second = try first.copy(in: .locked)
        let areEqual = first.isEqual(to: second)
        #expect(areEqual)
    }

    @Test func isEqual_anyBitDiffers_isFalse() throws {
        let first = try SecureBytes.random(count: 33)
        for bit in 0..<33 * 8 {
            var second = try first.copy(in: .ordinary)
            second.withUnsafeMutableBytes { $0[bit / 8] ^= 1 << (bit % 8) }
            let areEqual = first.isEqual(to: second)
            #expect(!areEqual)
        }
    }

    @Test func isEqual_otherCount_isFalse() throws {
        let short = try SecureBytes(count: 4)
        let long = try SecureBytes(count: 5)
        let empty = try SecureBytes(count: 0)
        let (forwards, backwards, toEmpty) = (short.isEqual(to: long), long.isEqual(to: short), empty.isEqual(to: long))
        #expect(!forwards && !backwards && !toEmpty)
    }

    @Test func isEqual_bothEmpty_isTrue() throws {
        let first = try SecureBytes(count: 0)
        let second = try SecureBytes(count: 0, in: .locked)
        let areEqual = first.isEqual(to: second)
        #expect(areEqual)
    }

    @Test(arguments: memories)
    func withUnsafeBytes_bodyThrows_rethrows(memory: SecureBytes.Memory) throws {
        struct Sign: Error {}
        var bytes = try SecureBytes(count: 4, in: memory)
        #expect(throws: Sign.self) {
            try bytes.withUnsafeBytes { _ throws(Sign) in throw Sign() }
        }
        #expect(throws: Sign.self) {
            try bytes.withUnsafeMutableBytes { _ throws(Sign) in throw Sign() }
        }
    }

    @Test(arguments: memories, [24, 200, 5000])
    func deinit_afterUse_leavesNothingInMemory(memory: SecureBytes.Memory, count: Int) throws {
        let secret = try RandomBytes.nonce(count)
        var address: UInt = 0
        do {
            let bytes = try SecureBytes(copying: secret, in: memory)
            address = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            #expect(ProcessMemory.bytes(at: address, count: count) == bytes.array())
        }
        #expect(!ProcessMemory.holds(anyOf: secret, at: address))
    }
}

@Suite struct RandomBytesTests {
    @Test(arguments: [0, 1, 12, 256, 257, 100_000])
    func nonce_count_isRespected(count: Int) throws {
        #expect(try RandomBytes.nonce(count).count == count)
    }

    @Test func nonce_negativeCount_throws() {
        #expect(code { _ = try RandomBytes.nonce(-1) } == .invalidParameters)
    }

    @Test func nonce_repeated_isUnique() throws {
        let nonces = try (0..<1000).map { _ in try RandomBytes.nonce(12) }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test func fill_nothing_doesNothing() throws {
        try RandomBytes.fill(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    @Test func fill_buffer_fillsEveryByte() throws {
        var seen = [UInt8](repeating: 0, count: 300)
        // A byte stays zero in all rounds with a probability of 256⁻¹⁶.
        for _ in 0..<16 {
            var bytes = [UInt8](repeating: 0, count: seen.count)
            try bytes.withUnsafeMutableBytes { try RandomBytes.fill($0) }
            for (index, byte) in bytes.enumerated() { seen[index] |= byte }
        }
        #expect(!seen.contains(0))
    }
}

/// Reads the memory of this process through the kernel, so that an unmapped address does not crash.
enum ProcessMemory {
    /// The bytes at an address; nil if it is unmapped.
    static func bytes(at address: UInt, count: Int) -> [UInt8]? {
        let file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(file, &bytes, count, off_t(bitPattern: address)) == count ? bytes : nil
    }

    /// Whether any eight bytes of a secret remain at its address.
    static func holds(anyOf secret: [UInt8], at address: UInt) -> Bool {
        guard let found = bytes(at: address, count: secret.count) else { return false }
        return zip(found, secret).split { $0.0 != $0.1 }.contains { $0.count >= 8 }
    }
}
