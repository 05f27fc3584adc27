#if Keys
import KeychaindGcrypt

/// A password of a PKCS #12 file, in the two forms that the algorithms take; both are overwritten at its end.
struct PKCS12Password: ~Copyable {
    /// UTF-8, for PBES2.
    let utf8: SecureBytes

    /// UTF-16, most significant byte first, with a final zero (RFC 7292, appendix B.1).
    let utf16: SecureBytes

    /// Nil stands for no password: some programs use nothing at all, others an empty password.
    init(_ text: String?) throws(GcryptError) {
        // Written where they stay: no copy is left behind.
        var short = try SecureBytes(count: text?.utf8.count ?? 0, in: .locked)
        var wide = try SecureBytes(count: text.map { 2 * ($0.utf16.count + 1) } ?? 0, in: .locked)
        if let text {
            short.withUnsafeMutableBytes { $0.copyBytes(from: text.utf8) }
            wide.withUnsafeMutableBytes { bytes in
                for (index, unit) in text.utf16.enumerated() {
                    bytes[2 * index] = UInt8(unit >> 8)
                    bytes[2 * index + 1] = UInt8(unit & 0xff)
                }
            }
        }
        utf8 = short
        utf16 = wide
    }

    /// The passwords to try for a text.
    static func candidates(_ text: String) -> [String?] {
        text.isEmpty ? ["", nil] : [text]
    }
}

/// The iterations of all derivations of a file, which is hostile: they are bounded together.
struct DerivationBudget {
    private var rest = 20_000_000

    /// Spends iterations; throws ``errSecDecode`` if they are too many.
    mutating func spend(_ iterations: Int) throws(StatusError) {
        guard iterations > 0, iterations <= rest else {
            throw StatusError(errSecDecode, "the iterations are not positive, or too many")
        }
        rest -= iterations
    }
}
#endif
