import KeychaindGcrypt

/// A keyring file of oo7 or libsecret's file backend: each item AES-128 under a key from the password.
///
/// ```
/// "GnomeKeyring\n\r\0\n"  1 0
/// GVariant (uayutua(a{say}ay)): size of the salt, salt, iterations, time, number of changes, and for each item:
/// hashed attributes, ciphertext, initialization vector (16 bytes), HMAC-SHA-256 of both
/// each item, decrypted: GVariant (a{ss}sttay): attributes, label, times, secret
/// ```
///
/// oo7 keeps the content type among the attributes, libsecret none. The password is a person's, or the secret that the
/// desktop portal gave to a Flatpak program. The key of the HMAC is that of the cipher.
package struct FileBackendKeyring {
    /// Version 0 is gnome-keyring's own.
    static let magic = GNOMEKeyringFile.magic + [1]

    private static let contentTypeAttribute = "xdg:content-type"

    private let name: String
    private let iterations: UInt32
    private let salt: [UInt8]
    /// The encrypted part of each item.
    private let items: [UnsafeRawBufferPointer]

    /// Reads the part that is not encrypted.
    package init(_ bytes: UnsafeRawBufferPointer, fileName: String) throws(ForeignFileError) {
        guard bytes.starts(with: Self.magic), bytes.count > Self.magic.count else {
            throw ForeignFileError(.notRecognized, "the file is no keyring of oo7 or libsecret")
        }
        guard bytes[Self.magic.count] == 0 else {
            throw ForeignFileError(.unsupported, "the keyring is of a newer version of oo7 or libsecret")
        }
        name = fileName
        var reader = GVariantStructure(UnsafeRawBufferPointer(rebasing: bytes[(Self.magic.count + 1)...]))
        let saltSize = try reader.uint32()
        let salt = try reader.part()
        guard salt.count == Int(saltSize), PBKDF2.saltBounds.contains(salt.count) else {
            throw ForeignFileError(.damaged, "the salt of the keyring is damaged")
        }
        self.salt = Array(salt)
        iterations = try reader.uint32()
        _ = try reader.uint64()
        _ = try reader.uint32()
        items = try Self.items(in: GVariantArray(try reader.rest()))
    }

    func read(
        password: borrowing SecureBytes,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        let key = try key(password)
        let authentication = try HMACSHA256(key: key)
        // An item under another key is lost, unless none is under this one.
        guard try items.isEmpty || items.contains(where: { try Self.isAuthentic($0, authentication) }) else {
            throw ForeignFileError(
                .wrongPassword,
                "the password does not open the keyring, or the keyring is damaged"
            )
        }
        for (index, sealed) in items.enumerated() {
            guard try Self.isAuthentic(sealed, authentication) else {
                summary.lose("it is damaged, or has another password", of: "item \(index + 1) of the file")
                continue
            }
            let plaintext = try Self.decrypt(sealed, key)
            let item = try plaintext.withUnsafeBytes { (bytes) throws(ForeignFileError) in
                try Self.item(in: bytes, keyring: name)
            }
            summary.countItem()
            try each(item)
        }
    }

    /// Reads a decrypted item, behind which is padding (RFC 5652, section 6.3).
    package static func item(
        in bytes: UnsafeRawBufferPointer,
        keyring: String
    ) throws(ForeignFileError) -> ForeignItem {
        guard let padding = bytes.last, (1...16).contains(padding), Int(padding) <= bytes.count,
            bytes.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { throw ForeignFileError(.damaged, "an item is damaged") }
        var reader = GVariantStructure(UnsafeRawBufferPointer(rebasing: bytes.dropLast(Int(padding))))
        var attributes = try attributes(in: GVariantArray(try reader.part()))
        let label = try text(try reader.part())
        let (created, modified) = (try reader.uint64(), try reader.uint64())
        let contentType = attributes.removeValue(forKey: contentTypeAttribute)
        return ForeignItem(
            keychain: keyring,
            label: label,
            attributes: attributes,
            secret: try SecureBytes(secret: try reader.rest()),
            contentType: contentType ?? GNOMEItem.contentType,
            created: created,
            modified: modified
        )
    }

    private func key(_ password: borrowing SecureBytes) throws -> SecureBytes {
        guard PBKDF2.iterationBounds.contains(Int(iterations)) else {
            throw ForeignFileError(.damaged, "the keyring asks for \(iterations) iterations, which is out of bounds")
        }
        return try PBKDF2(hash: .sha256, iterations: Int(iterations)).derive(password: password, salt: salt, count: 16)
    }

    /// Reads the encrypted parts; the hashed attributes beside them are only of use for a search.
    private static func items(in array: GVariantArray) throws(ForeignFileError) -> [UnsafeRawBufferPointer] {
        let cipher = UnpaddedCipher.aes128CBC
        var items: [UnsafeRawBufferPointer] = []
        for index in 0..<array.count {
            var reader = GVariantStructure(try array.element(index))
            _ = try reader.part()
            let sealed = try reader.rest()
            guard sealed.count >= 2 * cipher.blockSize + HMACSHA256.size,
                (sealed.count - HMACSHA256.size).isMultiple(of: cipher.blockSize)
            else { throw ForeignFileError(.damaged, "the encrypted part of item \(index + 1) is damaged") }
            items.append(sealed)
        }
        return items
    }

    private static func isAuthentic(
        _ sealed: UnsafeRawBufferPointer,
        _ authentication: borrowing HMACSHA256
    ) throws -> Bool {
        let message = UnsafeRawBufferPointer(rebasing: sealed.dropLast(HMACSHA256.size))
        return try authentication.authenticate(message).elementsEqual(sealed.suffix(HMACSHA256.size))
    }

    private static func decrypt(
        _ sealed: UnsafeRawBufferPointer,
        _ key: borrowing SecureBytes
    ) throws(GcryptError) -> SecureBytes {
        let cipher = UnpaddedCipher.aes128CBC
        let message = sealed.dropLast(HMACSHA256.size)
        return try cipher.decrypt(
            UnsafeRawBufferPointer(rebasing: message.dropLast(cipher.blockSize)),
            key: key,
            initializationVector: UnsafeRawBufferPointer(rebasing: message.suffix(cipher.blockSize))
        )
    }

    private static func attributes(in pairs: GVariantArray) throws(ForeignFileError) -> [String: String] {
        var attributes: [String: String] = [:]
        for index in 0..<pairs.count {
            var reader = GVariantStructure(try pairs.element(index))
            let name = try text(try reader.part())
            attributes[name] = try text(try reader.rest())
        }
        return attributes
    }

    /// Reads UTF-8 text with a zero byte behind it, and no other.
    private static func text(_ bytes: UnsafeRawBufferPointer) throws(ForeignFileError) -> String {
        guard bytes.firstIndex(of: 0) == bytes.count - 1,
            let text = String(validating: bytes.dropLast(), as: UTF8.self)
        else { throw ForeignFileError(.damaged, "an item is damaged") }
        return text
    }
}
