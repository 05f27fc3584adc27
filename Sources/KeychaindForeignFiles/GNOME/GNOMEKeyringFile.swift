import KeychaindGcrypt

/// A keyring file of gnome-keyring, in its binary form: AES-128 under a key from the password.
///
/// ```
/// "GnomeKeyring\n\r\0\n"  4 bytes of version and algorithms, all 0
/// name, times (2 × 8), flags, timeout, iterations (4 each), salt (8), reserved (16)
/// number of items, and for each: id, type, hashed attributes
/// size, ciphertext: MD5 of what follows, then for each item: name, secret, times, attributes, access list
/// ```
package struct GNOMEKeyringFile {
    static let magic: [UInt8] = Array("GnomeKeyring\n\r\0\n".utf8)

    private let name: String
    private let iterations: UInt32
    private let salt: UnsafeRawBufferPointer
    private let types: [UInt32]
    private let ciphertext: UnsafeRawBufferPointer

    /// Reads the part that is not encrypted.
    package init(_ bytes: UnsafeRawBufferPointer, fileName: String) throws(ForeignFileError) {
        var reader = ByteReader(bytes)
        guard try reader.take(Self.magic.count).elementsEqual(Self.magic) else {
            throw ForeignFileError(.notRecognized, "the file is no keyring of gnome-keyring")
        }
        let version = try reader.uint32()
        guard version == 0 else {
            throw ForeignFileError(.unsupported, "the keyring is of a newer version of gnome-keyring")
        }
        let displayed = try reader.text()
        name = displayed ?? fileName
        _ = try reader.take(24)
        iterations = try reader.uint32()
        salt = try reader.take(8)
        _ = try reader.take(16)
        var types: [UInt32] = []
        for _ in 0..<(try reader.count(entryBytes: 12)) {
            _ = try reader.uint32()
            types.append(try reader.uint32())
            _ = try Self.attributes(&reader)
        }
        self.types = types
        let start = reader.offset
        guard let ciphertext = try reader.sizedBytes(), ciphertext.count >= MD5.size,
            ciphertext.count.isMultiple(of: UnpaddedCipher.aes128CBC.blockSize)
        else { throw .damaged("the encrypted part", at: start) }
        self.ciphertext = ciphertext
    }

    func read(
        password: borrowing SecureBytes,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        let plaintext = try decrypt(password)
        try plaintext.withUnsafeBytes { bytes in
            let content = UnsafeRawBufferPointer(rebasing: bytes[MD5.size...])
            guard try bytes.prefix(MD5.size).elementsEqual(MD5.digest(of: content)) else {
                throw ForeignFileError(
                    .wrongPassword,
                    "the password does not open the keyring, or the keyring is damaged"
                )
            }
            try Self.readItems(of: types, in: content, keyring: name, &summary, each)
        }
    }

    /// Reads the decrypted items.
    package static func readItems(
        of types: [UInt32],
        in content: UnsafeRawBufferPointer,
        keyring: String,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var reader = ByteReader(content)
        for type in types {
            let label = try reader.text() ?? ""
            // gnome-keyring writes an empty secret as none.
            let secret = try reader.sizedBytes() ?? UnsafeRawBufferPointer(start: nil, count: 0)
            let (created, modified) = (try reader.uint64(), try reader.uint64())
            _ = try reader.text()
            _ = try reader.take(16)
            var attributes = try attributes(&reader)
            try skipAccessList(&reader)
            if attributes[GNOMEItem.schemaAttribute] == nil {
                attributes[GNOMEItem.schemaAttribute] = GNOMEItem.schema(ofType: type)
            }
            summary.countItem()
            try each(
                ForeignItem(
                    keychain: keyring,
                    label: label,
                    attributes: attributes,
                    secret: try SecureBytes(secret: secret),
                    contentType: GNOMEItem.contentType,
                    created: created,
                    modified: modified
                )
            )
        }
    }

    /// Derives the key and the initialization vector, and decrypts.
    private func decrypt(_ password: borrowing SecureBytes) throws -> SecureBytes {
        guard PBKDF2.iterationBounds.contains(Int(iterations)) else {
            throw ForeignFileError(.damaged, "the keyring asks for \(iterations) iterations, which is out of bounds")
        }
        let function = IteratedDigest(hash: .sha256, iterations: Int(iterations))
        let derived = try password.withUnsafeBytes { password in try function.derive(from: [password, salt]) }
        return try derived.withUnsafeBytes { derived in
            let key = try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: derived[..<16]), in: .locked)
            let vector = UnsafeRawBufferPointer(rebasing: derived[16...])
            return try UnpaddedCipher.aes128CBC.decrypt(ciphertext, key: key, initializationVector: vector)
        }
    }

    /// Reads attributes, of which numbers become decimal text as in gnome-keyring's own answers.
    private static func attributes(_ reader: inout ByteReader) throws(ForeignFileError) -> [String: String] {
        var attributes: [String: String] = [:]
        for _ in 0..<(try reader.count(entryBytes: 12)) {
            let start = reader.offset
            let name = try reader.text()
            let value =
                switch try reader.uint32() {
                case 0: try reader.text()
                case 1: String(try reader.uint32())
                default: throw ForeignFileError.damaged(at: start)
                }
            if let name, let value { attributes[name] = value }
        }
        return attributes
    }

    /// Skips the list of programs that may read an item: gnome-keyring does not enforce it either.
    private static func skipAccessList(_ reader: inout ByteReader) throws(ForeignFileError) {
        for _ in 0..<(try reader.count(entryBytes: 20)) {
            _ = try reader.uint32()
            for _ in 0..<3 { _ = try reader.text() }
            _ = try reader.uint32()
        }
    }
}

/// What gnome-keyring says of each item.
enum GNOMEItem {
    static let schemaAttribute = "xdg:schema"
    /// Its files have no content type.
    static let contentType = "text/plain"

    /// The schema of an item that names none, by the type number of the time before schemas.
    static func schema(ofType type: UInt32) -> String {
        switch type & 0xffff {
        case 1: "org.gnome.keyring.NetworkPassword"
        case 2: "org.gnome.keyring.Note"
        case 3: "org.gnome.keyring.ChainedKeyring"
        case 4: "org.gnome.keyring.EncryptionKey"
        case 0x100: "org.gnome.keyring.PkStorage"
        default: "org.freedesktop.Secret.Generic"
        }
    }
}
