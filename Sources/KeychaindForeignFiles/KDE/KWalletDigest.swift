import KeychaindGcrypt

/// The digests of KWallet: SHA-1, and what its own SHA-1 computes since the macro that tells the byte order is not
/// defined there.
///
/// The second reads and writes the words of a block with the least significant byte first. No library has it.
enum KWalletDigest: CaseIterable {
    case littleEndian
    case standard

    static let size = 20

    func digest(
        of message: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer
    ) throws(ForeignFileError) {
        switch self {
        case .standard:
            do throws(GcryptError) {
                try HashFunction.sha1.digest(of: [message], to: output)
            } catch {
                throw ForeignFileError(.outOfMemory, "SHA-1 failed: \(error.reason)")
            }
        case .littleEndian: Self.littleEndianDigest(of: message, to: output)
        }
    }

    private static func littleEndianDigest(
        of message: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer
    ) {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        let whole = message.count / 64 * 64
        for start in stride(from: 0, to: whole, by: 64) {
            transform(UnsafeRawBufferPointer(rebasing: message[start..<start + 64]), &state)
        }
        var last = [UInt8](repeating: 0, count: message.count % 64 < 56 ? 64 : 128)
        last.withUnsafeMutableBytes { last in
            last.copyBytes(from: message[whole...])
            last[message.count - whole] = 0x80
            last.storeBytes(of: UInt64(message.count * 8).bigEndian, toByteOffset: last.count - 8, as: UInt64.self)
            for start in stride(from: 0, to: last.count, by: 64) {
                transform(UnsafeRawBufferPointer(rebasing: last[start..<start + 64]), &state)
            }
            wipe(last)
        }
        for (index, word) in state.enumerated() {
            output.storeBytes(of: word.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
        state.withUnsafeMutableBytes { wipe($0) }
    }

    /// The rounds of FIPS 180-4, section 6.1.2.
    private static func transform(_ block: UnsafeRawBufferPointer, _ state: inout [UInt32]) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            for index in 0..<16 {
                words[index] = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
            for index in 16..<80 {
                let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words[index] = word << 1 | word >> 31
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for index in 0..<80 {
                let (function, constant): (UInt32, UInt32) =
                    switch index {
                    case 0..<20: (d ^ (b & (c ^ d)), 0x5a82_7999)
                    case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                    case 40..<60: ((b & c) | (d & (b | c)), 0x8f1b_bcdc)
                    default: (b ^ c ^ d, 0xca62_c1d6)
                    }
                let next = (a << 5 | a >> 27) &+ function &+ e &+ constant &+ words[index]
                (a, b, c, d, e) = (next, a, b << 30 | b >> 2, c, d)
            }
            for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
            wipe(UnsafeMutableRawBufferPointer(words))
        }
    }
}
