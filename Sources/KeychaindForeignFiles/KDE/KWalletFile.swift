import KeychaindGcrypt

/// A `.kwl` file of KWallet: folders of entries, encrypted with Blowfish under a key from the password.
///
/// ```
/// "KWALLET\n\r\0\r\n"  major, minor, cipher, hash (1 byte each)
/// number of folders, and for each: MD5 of its name, number of entries, MD5 of each entry's name
/// ciphertext: 8 random bytes, size, folders, random bytes, SHA-1 of the folders
/// ```
package struct KWalletFile {
    static let magic: [UInt8] = Array("KWALLET\n\r\0\r\n".utf8)

    /// The cipher of a wallet that GPG encrypts.
    private static let gpg: UInt8 = 2

    /// The size of a `.salt` file, in bytes.
    static let saltSize = 56

    /// The folder of items that were made through the Secret Service.
    private static let serviceFolder = "Secret Service"

    private let name: String
    private let usesPBKDF2: Bool
    private let cipher: UnpaddedCipher
    private let ciphertext: UnsafeRawBufferPointer

    /// Reads the part that is not encrypted.
    package init(_ bytes: UnsafeRawBufferPointer, fileName: String) throws(ForeignFileError) {
        var reader = ByteReader(bytes)
        guard try reader.take(Self.magic.count).elementsEqual(Self.magic) else {
            throw ForeignFileError(.notRecognized, "the file is no wallet of KWallet")
        }
        let (major, minor) = (try reader.byte(), try reader.byte())
        guard major == 0, minor <= 1 else {
            throw ForeignFileError(.unsupported, "the wallet is of a newer version of KWallet")
        }
        switch (try reader.byte(), try reader.byte()) {
        case (0, 0), (0, 2): cipher = .blowfishECB
        case (3, 0), (3, 2): cipher = .blowfishCBC
        case (Self.gpg, _):
            throw ForeignFileError(
                .unsupported,
                "the wallet is encrypted with GPG; move its entries into one with a password in KWallet Manager"
            )
        default: throw ForeignFileError(.unsupported, "the wallet has a cipher that KWallet never used")
        }
        usesPBKDF2 = minor == 1
        name = fileName
        for _ in 0..<(try reader.count(entryBytes: 20)) {
            _ = try reader.take(MD5.size)
            for _ in 0..<(try reader.count(entryBytes: MD5.size)) { _ = try reader.take(MD5.size) }
        }
        let start = reader.offset
        ciphertext = try reader.take(reader.remaining)
        guard ciphertext.count >= 32, ciphertext.count.isMultiple(of: cipher.blockSize) else {
            throw .damaged("the encrypted part", at: start)
        }
    }

    /// Whether a wallet that begins with these bytes has no password.
    static func usesGPG(_ start: UnsafeRawBufferPointer) -> Bool {
        start.starts(with: magic) && start.dropFirst(magic.count + 2).first == gpg
    }

    func read(
        password: borrowing SecureBytes,
        salt: [UInt8]?,
        attributes: KWalletAttributes,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        for digest in KWalletDigest.allCases {
            let key = try usesPBKDF2 ? newKey(password, salt) : oldKey(password, digest)
            let plaintext = try withUnsafeBytes(of: UInt64(0)) { vector in
                try cipher.decrypt(ciphertext, key: key, initializationVector: vector)
            }
            let isRead = try plaintext.withUnsafeBytes { bytes in
                guard let content = try Self.content(of: bytes) else { return false }
                try Self.readFolders(in: content, wallet: name, attributes, &summary, each)
                return true
            }
            // The key is another one only if it depends on the digest.
            if isRead { return }
            if usesPBKDF2 { break }
        }
        throw ForeignFileError(.wrongPassword, "the password does not open the wallet, or the wallet is damaged")
    }

    /// The folders in the decrypted part; nil if their digest is wrong.
    private static func content(of bytes: UnsafeRawBufferPointer) throws(ForeignFileError) -> UnsafeRawBufferPointer? {
        var reader = ByteReader(bytes)
        _ = try reader.take(8)
        let size = Int(try reader.uint32())
        guard size <= reader.remaining - KWalletDigest.size else { return nil }
        let content = try reader.take(size)
        for digest in KWalletDigest.allCases {
            var computed = try SecureBuffer(capacity: KWalletDigest.size)
            try computed.replace { (output) throws(ForeignFileError) in
                try digest.digest(of: content, to: output)
                return KWalletDigest.size
            }
            if computed.withUnsafeBytes({ $0.elementsEqual(bytes.suffix(KWalletDigest.size)) }) { return content }
        }
        return nil
    }

    /// Reads the decrypted folders.
    package static func readFolders(
        in content: UnsafeRawBufferPointer,
        wallet: String,
        _ attributes: KWalletAttributes,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var reader = ByteReader(content)
        while !reader.isAtEnd {
            let folder = try qString(&reader)
            for _ in 0..<(try reader.count(entryBytes: 8)) {
                let entry = try qString(&reader)
                let kind = try reader.uint32()
                // An entry of another kind has no value; KWallet skips it too.
                guard let kind = Kind(rawValue: kind) else { continue }
                let value = try reader.sizedBytes() ?? UnsafeRawBufferPointer(start: nil, count: 0)
                let known = attributes[folder, entry] ?? KWalletAttributes.Entry()
                let label = label(of: entry, in: folder)
                let isOfProgram = attributes[folder, entry] == nil || folder != serviceFolder
                summary.countItem()
                try each(
                    ForeignItem(
                        keychain: wallet,
                        label: label,
                        attributes: known.attributes.isEmpty && isOfProgram
                            ? ["server": folder, "user": entry, "type": kind.name] : known.attributes,
                        secret: try secret(of: kind, value, label, &summary),
                        contentType: known.contentType ?? "application/octet-stream",
                        created: known.created,
                        modified: known.modified
                    )
                )
            }
        }
    }

    private enum Kind: UInt32 {
        case password = 1
        case stream = 2
        case map = 3

        /// The attribute `type` that ksecretd gives an entry, and from which kwalletd6 knows how to read it.
        var name: String {
            switch self {
            case .password: "plaintext"
            case .stream: "base64"
            case .map: "map"
            }
        }
    }

    /// The secret in the form in which ksecretd gives it.
    private static func secret(
        of kind: Kind,
        _ value: UnsafeRawBufferPointer,
        _ label: String,
        _ summary: inout ForeignFileSummary
    ) throws(ForeignFileError) -> SecureBytes {
        switch kind {
        case .password: return try passwordSecret(value)
        case .stream: return try SecureBytes(secret: value)
        case .map:
            do throws(ForeignFileError) {
                return try KWalletMap(value).json()
            } catch  where error.code == .damaged {
                summary.lose("its map is damaged, and is kept as it is", of: label)
                return try SecureBytes(secret: value)
            }
        }
    }

    private func newKey(_ password: borrowing SecureBytes, _ salt: [UInt8]?) throws -> SecureBytes {
        guard let salt, salt.count == Self.saltSize else {
            throw ForeignFileError(.unreadable, "the wallet needs the file “\(name).salt” of its folder")
        }
        return try PBKDF2(hash: .sha512, iterations: 50_000).derive(password: password, salt: salt, count: 56)
    }

    /// The key of wallets before KDE 4.13: a digest for each 16 bytes of the password, the last for all that follow.
    private func oldKey(_ password: borrowing SecureBytes, _ function: KWalletDigest) throws -> SecureBytes {
        try password.withUnsafeBytes { password in
            let blocks = min(max((password.count + 15) / 16, 1), 4)
            let sizes = [[20], [20, 20], [20, 20, 16], [14, 14, 14, 14]][blocks - 1]
            var key = try SecureBytes(count: sizes.reduce(0, +), in: .locked)
            var end = 0
            for (index, size) in sizes.enumerated() {
                let start = index * 16
                let block = index == 3 ? password[start...] : password[start..<min(start + 16, password.count)]
                var digest = try SecureBytes(count: KWalletDigest.size, in: .locked)
                try digest.withUnsafeMutableBytes { digest in
                    try function.digest(of: UnsafeRawBufferPointer(rebasing: block), to: digest)
                    for _ in 1..<2000 { try function.digest(of: UnsafeRawBufferPointer(digest), to: digest) }
                    key.withUnsafeMutableBytes { key in
                        UnsafeMutableRawBufferPointer(rebasing: key[end...]).copyBytes(from: digest.prefix(size))
                    }
                }
                end += size
            }
            return key
        }
    }

    /// The label that KWallet's own Secret Service shows: without the number that keeps equal ones apart.
    private static func label(of entry: String, in folder: String) -> String {
        var name = entry[...]
        if name.hasSuffix("_"), let start = name.dropLast().lastIndex(where: { !("0"..."9").contains($0) }),
            name[...start].hasSuffix("__"), name.index(after: start) < name.index(before: name.endIndex)
        {
            name = name[..<name.index(before: start)]
        }
        return folder == serviceFolder ? String(name) : "\(folder)/\(name)"
    }

    private static func qString(_ reader: inout ByteReader) throws(ForeignFileError) -> String {
        String(decoding: try QStringUnits(&reader), as: UTF16.self)
    }

    /// Returns the UTF-8 of a password, whose value is a size and UTF-16.
    private static func passwordSecret(_ value: UnsafeRawBufferPointer) throws(ForeignFileError) -> SecureBytes {
        // KWallet takes an empty value for an empty password.
        guard !value.isEmpty else { return try SecureBytes(secret: value) }
        var reader = ByteReader(value)
        let units = try QStringUnits(&reader)
        var result = try SecureBuffer(capacity: 2 * units.count)
        try units.forEachScalar { (scalar) throws(ForeignFileError) in try result.append(scalar) }
        return try result.withUnsafeBytes { (bytes) throws(ForeignFileError) in try SecureBytes(secret: bytes) }
    }
}
