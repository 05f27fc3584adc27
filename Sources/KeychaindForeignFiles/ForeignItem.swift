package import KeychaindGcrypt

/// An item as another provider or program keeps it.
package struct ForeignItem: ~Copyable, Sendable {
    /// The name of the keychain, wallet or folder that it is in.
    package let keychain: String
    package let label: String
    package let attributes: [String: String]
    package let secret: SecureBytes
    package let contentType: String
    /// Seconds since 1970; nil if the source does not keep it.
    package let created: UInt64?
    /// Seconds since 1970; nil if the source does not keep it.
    package let modified: UInt64?

    package init(
        keychain: String,
        label: String,
        attributes: [String: String],
        secret: consuming SecureBytes,
        contentType: String,
        created: UInt64?,
        modified: UInt64?
    ) {
        self.keychain = keychain
        self.label = label
        self.attributes = attributes
        self.secret = secret
        self.contentType = contentType
        self.created = created
        self.modified = modified
    }
}
