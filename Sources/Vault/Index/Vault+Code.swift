extension Vault {
    /// A code that only somebody with this user's data can compute: 32 bytes, HMAC-SHA256 under the blind index's key.
    ///
    /// - Parameter purpose: codes for one purpose are no codes for another.
    package func code(of purpose: String, _ parts: [UInt8]...) throws(VaultError) -> [UInt8] {
        guard let indexKey else { throw Collection.closed }
        return try indexKey.code(of: purpose, parts)
    }
}

extension BlindIndexKey {
    /// In hexadecimal digits, so that it holds no NUL: then no attribute has this message.
    func code(of purpose: String, _ parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let digits = parts.map { part in part.map { byte in String(byte, radix: 16) }.joined(separator: ".") }
        let message = Array("keychaind 1 code for \(purpose): \(digits.joined(separator: " "))".utf8)
        return try authenticate(message)
    }
}
