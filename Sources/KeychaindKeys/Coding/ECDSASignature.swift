package import KeychaindGcrypt

extension ECDSA.Signature {
    /// Reads a signature; nil if it is none of the format.
    ///
    /// - Parameter size: the size of the field in bytes.
    package init?(_ bytes: [UInt8], _ format: KeyAlgorithm.SignatureFormat, size: Int) {
        switch format {
        case .x962:
            guard let numbers = try? IntegerSequence.parse(bytes, count: 2) else { return nil }
            self.init(r: numbers[0], s: numbers[1])
        case .rfc4754:
            guard bytes.count == 2 * size else { return nil }
            self.init(r: Array(bytes.prefix(size)), s: Array(bytes.suffix(size)))
        }
    }

    /// The signature in a format; for ``KeyAlgorithm/SignatureFormat/rfc4754`` both numbers have the size of the field.
    package func encoded(_ format: KeyAlgorithm.SignatureFormat) -> [UInt8] {
        switch format {
        case .x962: IntegerSequence.encode([r, s])
        case .rfc4754: r + s
        }
    }
}
