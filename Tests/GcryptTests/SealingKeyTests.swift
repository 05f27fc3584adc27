import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct SealingKeyTests {
    @Test(arguments: Vector.cases(of: "nist-aes-256-gcm"))
    func seal_NISTVector_matches(vector: Vector) throws {
        let key = try SealingKey(SecureBytes(copying: vector.bytes("key"), in: .locked))
        let plaintext = try vector.bytes("plaintext")
        let associatedData = try vector.bytes("associated")
        let sealed = try vector.bytes("nonce") + vector.bytes("ciphertext") + vector.bytes("tag")
        #expect(try key.seal(plaintext, associatedData, nonce: vector.bytes("nonce")) == sealed)
        #expect(try key.open(sealed, associatedData) == plaintext)
    }

    @Test(arguments: Vector.cases(of: "nist-aes-256-gcm-rejected"))
    func open_invalidNISTVector_throws(vector: Vector) throws {
        let key = try SealingKey(SecureBytes(copying: vector.bytes("key"), in: .locked))
        let sealed = try vector.bytes("nonce") + vector.bytes("ciphertext") + vector.bytes("tag")
        let associatedData = try vector.bytes("associated")
        #expect(code { _ = try key.open(sealed, associatedData) } == .authenticationFailed)
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "nist-aes-256-gcm").count == 75)
        #expect(Vector.cases(of: "nist-aes-256-gcm-rejected").count == 50)
    }

    @Test func open_anySize_returnsPlaintext() throws {
        var random = SeededGenerator(seed: 1)
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        for _ in 0..<300 {
            let plaintext = random.bytes(upTo: 300)
            let associatedData = random.bytes(upTo: 100)
            let sealed = try key.seal(plaintext, associatedData)
            #expect(sealed.count == plaintext.count + SealingKey.overhead)
            #expect(try key.open(sealed, associatedData) == plaintext)
        }
    }

    @Test func open_16MiB_returnsPlaintext() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let plaintext = try RandomBytes.nonce(16 * 1024 * 1024 + 5)
        let isSame = try key.open(key.seal(plaintext, []), []) == plaintext
        #expect(isSame)
    }

    @Test func open_emptyPlaintextAndData_returnsNothing() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal(nothing, associatedData: nothing)
        let count = try sealed.withUnsafeBytes {
            try key.open($0, associatedData: nothing, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        }
        #expect(count == 0)
    }

    @Test(arguments: [0, 1, 16, 45])
    func open_anyBitFlipped_throws(count: Int) throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal(RandomBytes.nonce(count), [7])
        for bit in 0..<sealed.count * 8 {
            var flipped = sealed
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(code { _ = try key.open(flipped, [7]) } == .authenticationFailed)
        }
    }

    @Test func open_otherLength_throws() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal([1, 2, 3], [])
        for count in 0..<sealed.count {
            #expect(code { _ = try key.open([UInt8](sealed[..<count]), []) } == .authenticationFailed)
        }
        #expect(code { _ = try key.open(sealed + [0], []) } == .authenticationFailed)
        #expect(code { _ = try key.open(nothing, associatedData: nothing) } == .authenticationFailed)
    }

    @Test(arguments: [[], [1], [1, 2, 3], [1, 3], [2, 1]] as [[UInt8]])
    func open_otherAssociatedData_throws(other: [UInt8]) throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal([9], [1, 2])
        #expect(code { _ = try key.open(sealed, other) } == .authenticationFailed)
    }

    @Test func open_otherKey_throws() throws {
        let sealed = try SealingKey(SecureBytes.random(count: 32, in: .locked)).seal([9], [])
        let other = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        #expect(code { _ = try other.open(sealed, []) } == .authenticationFailed)
    }

    @Test func open_afterFailure_succeeds() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal([1, 2, 3], [4])
        for _ in 0..<3 {
            #expect(code { _ = try key.open(sealed, []) } == .authenticationFailed)
            #expect(try key.open(sealed, [4]) == [1, 2, 3])
        }
    }

    @Test func openInto_largerBuffer_writesOnlyPlaintext() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal([1, 2, 3], [])
        var buffer = [UInt8](repeating: 0xee, count: 5)
        let count = try sealed.withUnsafeBytes { sealed in
            try buffer.withUnsafeMutableBytes { try key.open(sealed, associatedData: nothing, into: $0) }
        }
        #expect(count == 3)
        #expect(buffer == [1, 2, 3, 0xee, 0xee])
    }

    @Test func openInto_smallerBuffer_throwsAndWritesNothing() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let sealed = try key.seal([1, 2, 3], [])
        var buffer: [UInt8] = [0xee, 0xee]
        let failure = code {
            _ = try sealed.withUnsafeBytes { sealed in
                try buffer.withUnsafeMutableBytes { try key.open(sealed, associatedData: nothing, into: $0) }
            }
        }
        #expect(failure == .invalidParameters)
        #expect(buffer == [0xee, 0xee])
    }

    @Test func openInto_tampered_leavesNoPlaintext() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        var sealed = try key.seal([UInt8](repeating: 0x55, count: 40), [])
        sealed[sealed.count - 1] ^= 1
        var buffer = [UInt8](repeating: 0xee, count: 40)
        let failure = code {
            _ = try sealed.withUnsafeBytes { sealed in
                try buffer.withUnsafeMutableBytes { try key.open(sealed, associatedData: nothing, into: $0) }
            }
        }
        #expect(failure == .authenticationFailed)
        #expect(buffer == [UInt8](repeating: 0, count: 40))
    }

    @Test func seal_twice_usesDifferentNonces() throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let nonces = try (0..<200).map { _ in try key.seal([1], []).prefix(SealingKey.nonceSize) }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test(arguments: [0, 11, 13, 16])
    func seal_nonceOfOtherSize_throws(count: Int) throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        #expect(code { _ = try key.seal([1], [], nonce: RandomBytes.nonce(count)) } == .invalidParameters)
    }

    @Test(arguments: [0, 16, 24, 31, 33, 64])
    func init_keyOfOtherSize_throws(count: Int) {
        #expect(code { _ = try SealingKey(SecureBytes.random(count: count)) } == .invalidParameters)
    }

    @Test func open_concurrent_returnsEachPlaintext() async throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let shared = SharedKey(key: key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<200 {
                        let plaintext = [UInt8](repeating: UInt8(number), count: 64 + number)
                        let opened = try shared.key.open(shared.key.seal(plaintext, [1]), [1])
                        #expect(opened == plaintext)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A key shared by several tasks.
private final class SharedKey: Sendable {
    let key: SealingKey

    init(key: consuming SealingKey) {
        self.key = key
    }
}
