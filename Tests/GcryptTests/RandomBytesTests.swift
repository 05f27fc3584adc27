import Gcrypt
import Testing

@Suite struct RandomBytesTests {
    @Test(arguments: [0, 1, 12, 256, 257, 100_000])
    func nonce_ofCount_hasIt(count: Int) throws {
        #expect(try RandomBytes.nonce(count).count == count)
    }

    @Test func nonce_negativeCount_throws() {
        #expect(code { _ = try RandomBytes.nonce(-1) } == .invalidParameters)
    }

    @Test func nonce_manyTimes_isNeverTheSame() throws {
        let nonces = try (0..<1000).map { _ in try RandomBytes.nonce(12) }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test func fill_nothing_doesNothing() throws {
        try RandomBytes.fill(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    @Test func fill_buffer_reachesEveryByte() throws {
        var seen = [UInt8](repeating: 0, count: 300)
        // A byte stays zero in all rounds once in 256¹⁶.
        for _ in 0..<16 {
            var bytes = [UInt8](repeating: 0, count: seen.count)
            try bytes.withUnsafeMutableBytes { try RandomBytes.fill($0) }
            for (index, byte) in bytes.enumerated() { seen[index] |= byte }
        }
        #expect(!seen.contains(0))
    }
}
