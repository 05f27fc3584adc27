import KeychaindFiles
import KeychaindModel

/// A message of the key exchange: a public key and optionally an encrypted password.
///
/// It reveals nothing without one of the private keys.
package struct GCRExchangeMessage: Hashable, Sendable {
    /// The size limit in bytes, enough for passwords of 40 KiB.
    package static let sizeLimit = 64 * 1024

    private static let group = "sx-aes-1"

    /// The sender's public key, most significant byte first.
    package let publicKey: [UInt8]
    package let password: Password?

    package struct Password: Hashable, Sendable {
        /// AES-128-CBC ciphertext with PKCS#7 padding, 16 bytes or more.
        package let ciphertext: [UInt8]
        /// The initialization vector, 16 bytes.
        package let iv: [UInt8]

        package init(ciphertext: [UInt8], iv: [UInt8]) {
            self.ciphertext = ciphertext
            self.iv = iv
        }
    }

    package init(publicKey: [UInt8], password: Password? = nil) {
        self.publicKey = publicKey
        self.password = password
    }

    package init?(parsing text: UnsafeRawBufferPointer) {
        guard text.count <= GCRExchangeMessage.sizeLimit, case let file = KeyFile([UInt8](text)), file.isWellFormed
        else {
            return nil
        }
        let value = { (key: String) in file.value(GCRExchangeMessage.group, key)?.utf8 }
        guard let publicKey = value("public").flatMap(Base64.decode) else { return nil }
        self.publicKey = publicKey
        guard let secret = value("secret") else {
            password = nil
            return
        }
        guard let ciphertext = Base64.decode(secret), let iv = value("iv").flatMap(Base64.decode) else { return nil }
        password = Password(ciphertext: ciphertext, iv: iv)
    }

    /// The text of a message without a password.
    package var text: String {
        "[\(GCRExchangeMessage.group)]\npublic=\(Base64.encode(publicKey))\n"
    }
}
