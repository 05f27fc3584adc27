/// One text of an exchange: a public key, and perhaps a password that is encrypted under what both sides' keys agree on.
///
/// Nothing in it is secret to whoever has not one of the private keys.
package struct GCRExchangeMessage: Hashable, Sendable {
    /// The largest text that is read, in bytes: room for a password of 40 KiB.
    package static let sizeLimit = 64 * 1024

    private static let group = "sx-aes-1"

    /// The sender's public key, most significant byte first.
    package let publicKey: [UInt8]
    /// The encrypted password, if one is sent.
    package let password: Password?

    /// A password as it travels.
    package struct Password: Hashable, Sendable {
        /// AES-128-CBC with PKCS#7 padding, so of 16 bytes at least.
        package let ciphertext: [UInt8]
        /// The initialization vector, of 16 bytes.
        package let iv: [UInt8]

        /// Creates a password as it travels.
        package init(ciphertext: [UInt8], iv: [UInt8]) {
            self.ciphertext = ciphertext
            self.iv = iv
        }
    }

    /// Creates a message; without a password, it only brings a public key.
    package init(publicKey: [UInt8], password: Password? = nil) {
        self.publicKey = publicKey
        self.password = password
    }

    /// Reads a text; nil if it is no message of this kind of exchange.
    package init?(parsing text: UnsafeRawBufferPointer) {
        guard text.count <= GCRExchangeMessage.sizeLimit,
            let file = KeyFile(parsing: [UInt8](text), group: GCRExchangeMessage.group),
            let publicKey = file["public"].flatMap(Base64.decode)
        else { return nil }
        self.publicKey = publicKey
        guard let secret = file["secret"] else {
            password = nil
            return
        }
        guard let ciphertext = Base64.decode(secret), let iv = file["iv"].flatMap(Base64.decode) else { return nil }
        password = Password(ciphertext: ciphertext, iv: iv)
    }

    /// The text of a message without a password.
    package var text: String {
        "[\(GCRExchangeMessage.group)]\npublic=\(Base64.encode(publicKey))\n"
    }
}
