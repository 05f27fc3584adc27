/// A credential of a security key (FIDO2), and the salt of its secret.
package struct SecurityKeyCredential: Hashable, Sendable {
    /// The bytes that only the key understands.
    package let id: [UInt8]

    /// Makes one of the credential's many secrets (`hmac-secret`).
    package let salt: [UInt8]

    /// Whether the key gives this secret only with its PIN.
    package let needsPIN: Bool

    package static let saltSize = 32

    /// The maximum of WebAuthn.
    package static let maximumIDSize = 1023

    /// Nil if a size is wrong.
    package init?(id: [UInt8], salt: [UInt8], needsPIN: Bool) {
        guard (1...Self.maximumIDSize).contains(id.count), salt.count == Self.saltSize else { return nil }
        self.id = id
        self.salt = salt
        self.needsPIN = needsPIN
    }
}
