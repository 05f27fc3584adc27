import Gcrypt

/// The bytes of a hexadecimal text, for vectors.
func bytes(hexadecimal text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SecureBytes {
    /// A copy of the bytes that can be compared with `==`.
    borrowing func array() -> [UInt8] {
        withUnsafeBytes { [UInt8]($0) }
    }
}

extension SealingKey {
    /// Seals arrays.
    borrowing func seal(_ plaintext: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8] {
        try plaintext.withUnsafeBytes { plaintext in
            try associatedData.withUnsafeBytes { try seal(plaintext, associatedData: $0) }
        }
    }

    /// Opens arrays.
    borrowing func open(_ sealed: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8] {
        try sealed.withUnsafeBytes { sealed in
            try associatedData.withUnsafeBytes { try open(sealed, associatedData: $0).array() }
        }
    }
}
