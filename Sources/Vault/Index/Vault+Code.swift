extension Vault {
    /// Computes a code that requires this user's data: 32 bytes, HMAC-SHA256 under the index key.
    ///
    /// - Parameter purpose: separates codes for different purposes.
    package func code(of purpose: String, _ parts: [UInt8]...) throws(VaultError) -> [UInt8] {
        guard let indexKey else { throw Collection.closed }
        return try indexKey.code(of: purpose, parts)
    }
}

extension BlindIndexKey {
    /// Computes a code.
    ///
    /// The hexadecimal message contains no NUL and so differs from every attribute.
    func code(of purpose: String, _ parts: [[UInt8]]) throws(VaultError) -> [UInt8] {
        let digits = parts.map { part in part.map { byte in String(byte, radix: 16) }.joined(separator: ".") }
        let message = Array("keychaind 1 code for \(purpose): \(digits.joined(separator: " "))".utf8)
        return try authenticate(message)
    }
}
