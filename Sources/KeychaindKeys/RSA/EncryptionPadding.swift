import KeychaindGcrypt

/// Encodings of a plaintext that RSA encrypts (RFC 8017, section 7).
///
/// Decoding takes the same steps for every content, and only whether it succeeded is branched on: which part of the
/// padding was wrong would let an attacker decrypt a ciphertext by sending variants of it.
enum EncryptionPadding {
    /// EME-PKCS1-v1_5; nil if the plaintext is too long for the modulus.
    ///
    /// - Parameter size: the size of the modulus in bytes.
    static func pkcs1(_ plaintext: UnsafeRawBufferPointer, size: Int) throws(GcryptError) -> SecureBytes? {
        guard plaintext.count <= size - 11 else { return nil }
        var encoding = try SecureBytes(count: size)
        try encoding.withUnsafeMutableBytes { (encoding) throws(GcryptError) in
            encoding[1] = 2
            let end = size - plaintext.count - 1
            for index in 2..<end {
                let byte = encoding.part(index..<(index + 1))
                repeat { try RandomBytes.fill(byte) } while byte[0] == 0
            }
            encoding.part((end + 1)...).copyMemory(from: plaintext)
        }
        return encoding
    }

    /// The plaintext of an EME-PKCS1-v1_5 encoding; nil if it is none.
    static func withoutPKCS1(_ encoding: borrowing SecureBytes) throws(GcryptError) -> SecureBytes? {
        let start = encoding.withUnsafeBytes { encoding -> Int? in
            guard encoding.count >= 11 else { return nil }
            var mistakes = UInt32(encoding[0]) | (UInt32(encoding[1]) ^ 2)
            // All ones once the zero that ends the padding was seen.
            var found: UInt32 = 0
            var start: UInt32 = 0
            for index in 2..<encoding.count {
                let isZero = ConstantTime.isZero(UInt32(encoding[index]))
                let isEnd = isZero & ~found
                start |= isEnd & UInt32(index + 1)
                // Eight bytes of padding at least.
                mistakes |= isEnd & ConstantTime.isLess(UInt32(index), 10)
                found |= isZero
            }
            mistakes |= ~found
            return mistakes == 0 ? Int(start) : nil
        }
        guard let start else { return nil }
        var plaintext = try encoding.copy(in: .ordinary)
        plaintext.removeFirst(start)
        return plaintext
    }

    /// EME-OAEP with an empty label and the hash function in the mask too; nil if the plaintext is too long.
    static func oaep(
        _ plaintext: UnsafeRawBufferPointer,
        hash: HashFunction,
        size: Int
    ) throws(GcryptError) -> SecureBytes? {
        guard plaintext.count <= size - 2 * hash.size - 2 else { return nil }
        let label = try hash.digest(of: [])
        var encoding = try SecureBytes(count: size)
        try encoding.withUnsafeMutableBytes { (encoding) throws(GcryptError) in
            let seed = encoding.part(1...hash.size)
            let block = encoding.part((1 + hash.size)...)
            try RandomBytes.fill(seed)
            block.copyBytes(from: label)
            block[block.count - plaintext.count - 1] = 1
            block.part((block.count - plaintext.count)...).copyMemory(from: plaintext)
            try hash.mask(block, seed: UnsafeRawBufferPointer(seed))
            try hash.mask(seed, seed: UnsafeRawBufferPointer(block))
        }
        return encoding
    }

    /// The plaintext of an EME-OAEP encoding with an empty label; nil if it is none.
    static func withoutOAEP(
        _ encoding: consuming SecureBytes,
        hash: HashFunction
    ) throws(GcryptError) -> SecureBytes? {
        guard encoding.count >= 2 * hash.size + 2 else { return nil }
        let label = try hash.digest(of: [])
        let start = try encoding.withUnsafeMutableBytes { (encoding) throws(GcryptError) -> Int? in
            let seed = encoding.part(1...hash.size)
            let block = encoding.part((1 + hash.size)...)
            try hash.mask(seed, seed: UnsafeRawBufferPointer(block))
            try hash.mask(block, seed: UnsafeRawBufferPointer(seed))
            var mistakes = UInt32(encoding[0])
            for index in 0..<hash.size { mistakes |= UInt32(block[index] ^ label[index]) }
            var found: UInt32 = 0
            var start: UInt32 = 0
            for index in hash.size..<block.count {
                let byte = UInt32(block[index])
                let isOne = ConstantTime.isZero(byte ^ 1)
                let isEnd = isOne & ~found
                start |= isEnd & UInt32(1 + hash.size + index + 1)
                // Only zeros in front of the one.
                mistakes |= ~found & ~isOne & byte
                found |= isOne
            }
            mistakes |= ~found
            return mistakes == 0 ? Int(start) : nil
        }
        guard let start else { return nil }
        encoding.removeFirst(start)
        return encoding
    }
}

/// Comparisons without branches: all ones for true, zero for false.
enum ConstantTime {
    static func isZero(_ value: UInt32) -> UInt32 {
        // The top bit of value or of its negation is set unless it is zero.
        ((value | (0 &- value)) >> 31) &- 1
    }

    /// For numbers of less than 2³¹.
    static func isLess(_ left: UInt32, _ right: UInt32) -> UInt32 {
        0 &- ((left &- right) >> 31)
    }
}
