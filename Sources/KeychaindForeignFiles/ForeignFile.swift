import Glibc
package import KeychaindGcrypt

/// A file of another program that keeps secrets; it is only read.
package struct ForeignFile: ~Copyable {
    package enum Format: Equatable, Sendable {
        case gnomeKeyring
        case gnomeKeyringText
        /// Of oo7, and libsecret's file backend.
        case fileBackend
        case kWallet
        case table
        case bitwarden
        case credentialExchange

        package var needsPassword: Bool {
            switch self {
            case .gnomeKeyring, .fileBackend, .kWallet: true
            default: false
            }
        }
    }

    /// The bytes at the front that decide the format.
    package static let decidingBytes = 4096

    package let format: Format

    private let descriptor: Descriptor
    private let path: String
    private let start: SecureBuffer

    /// Opens a file and finds out its format.
    package init(path: String) throws(ForeignFileError) {
        let descriptor = try Descriptor(path: path)
        let start = try Self.read(descriptor, count: Self.decidingBytes)
        guard let format = start.withUnsafeBytes({ Self.format(of: $0) }) else {
            throw ForeignFileError(
                .notRecognized,
                "the file is none of gnome-keyring, oo7, KWallet, Bitwarden (JSON) or FIDO's Credential Exchange, and "
                    + "no table of passwords (CSV)"
            )
        }
        self.path = path
        self.format = format
        self.start = start
        self.descriptor = descriptor
    }

    /// The file's name without its folder and extension: the keychain of items whose file names none.
    package var name: String {
        let file = path.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return String(file) }
        return String(file[..<dot])
    }

    /// Whether it is a wallet of KWallet without a password, which is refused.
    package var usesGPG: Bool { start.withUnsafeBytes { KWalletFile.usesGPG($0) } }

    /// Reads all items, in the order of the file.
    ///
    /// Blocks; of encrypted files for the time of their iterations. Throws ``ForeignFileError``, or the error of the
    /// closure. Tables are read while the closure is called, so an error may come after items.
    ///
    /// - Parameter password: ignored if the format needs none.
    package consuming func read(
        password: borrowing SecureBytes,
        each: (consuming ForeignItem) throws -> Void
    ) throws -> ForeignFileSummary {
        var summary = ForeignFileSummary()
        let name = name
        if format == .table {
            let reader = try start.withUnsafeBytes { (start) throws(ForeignFileError) in
                try CSVReader(descriptor.number, startingWith: start)
            }
            try PasswordTable(name: name).read(reader, &summary, each)
            return summary
        }
        let content = try start.withUnsafeBytes { (start) throws(ForeignFileError) in
            try WholeFile.read(descriptor.number, startingWith: start)
        }
        try content.withUnsafeBytes { bytes in
            switch format {
            case .gnomeKeyring:
                try GNOMEKeyringFile(bytes, fileName: name).read(password: password, &summary, each)
            case .gnomeKeyringText:
                try GNOMEKeyringText(bytes, fileName: name).read(&summary, each)
            case .fileBackend:
                try FileBackendKeyring(bytes, fileName: name).read(password: password, &summary, each)
            case .kWallet:
                let wallet = try KWalletFile(bytes, fileName: name)
                let (salt, attributes) = (try readSalt(), try readAttributes(&summary))
                try wallet.read(password: password, salt: salt, attributes: attributes, &summary, each)
            case .bitwarden:
                try BitwardenExport(bytes, name: name).read(&summary, each)
            case .credentialExchange:
                try CredentialExchangeFile(bytes, name: name).read(&summary, each)
            case .table:
                break
            }
        }
        return summary
    }

    /// Returns the format of a file that begins with these bytes: ``decidingBytes`` or all.
    package static func format(of start: UnsafeRawBufferPointer) -> Format? {
        if start.starts(with: FileBackendKeyring.magic) { return .fileBackend }
        if start.starts(with: GNOMEKeyringFile.magic) { return .gnomeKeyring }
        if start.starts(with: KWalletFile.magic) { return .kWallet }
        let text = start.starts(with: [0xef, 0xbb, 0xbf]) ? start[3...] : start[...]
        guard let first = text.firstIndex(where: { $0 != 0x20 && !(0x09...0x0d).contains($0) }) else { return nil }
        let content = text[first...]
        if content.starts(with: Array("[keyring]".utf8)) { return .gnomeKeyringText }
        if content.first == UInt8(ascii: "{") {
            let text = String(decoding: content, as: UTF8.self)
            if text.contains("\"encrypted\"") { return .bitwarden }
            return text.contains("\"exporterRpId\"") ? .credentialExchange : nil
        }
        let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let columns = String(decoding: line, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        return PasswordTable.isTable(columns: columns.map { $0.filter { $0 != "\"" } }) ? .table : nil
    }

    /// Reads the file with the salt of a wallet; nil if there is none.
    private borrowing func readSalt() throws(ForeignFileError) -> [UInt8]? {
        guard let descriptor = try? Descriptor(path: sibling(name + ".salt")) else { return nil }
        let salt = try Self.read(descriptor, count: KWalletFile.saltSize)
        return salt.withUnsafeBytes { Array($0) }
    }

    /// Reads the file with the attributes of a wallet, which only the Secret Service of KWallet makes.
    private borrowing func readAttributes(
        _ summary: inout ForeignFileSummary
    ) throws(ForeignFileError) -> KWalletAttributes {
        guard let descriptor = try? Descriptor(path: sibling(name + "_attributes.json")) else {
            return KWalletAttributes()
        }
        do throws(ForeignFileError) {
            let empty = UnsafeRawBufferPointer(start: nil, count: 0)
            let content = try WholeFile.read(descriptor.number, startingWith: empty)
            return try content.withUnsafeBytes { (bytes) throws(ForeignFileError) in try KWalletAttributes(bytes) }
        } catch  where error.code == .damaged {
            summary.lose("its file of attributes is damaged, so items have only folder and entry", of: name)
            return KWalletAttributes()
        }
    }

    private borrowing func sibling(_ name: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }

    /// Reads up to so many bytes.
    private static func read(_ descriptor: borrowing Descriptor, count: Int) throws(ForeignFileError) -> SecureBuffer {
        var content = try SecureBuffer(capacity: count)
        var chunk = try SecureBuffer(capacity: count)
        while content.count < count, try WholeFile.fill(&chunk, from: descriptor.number) {
            try chunk.withUnsafeBytes { (bytes) throws(ForeignFileError) in try content.append(bytes) }
        }
        return content
    }
}

/// An open regular file.
private struct Descriptor: ~Copyable {
    let number: Int32

    /// Opens a file; a pipe or device could block.
    init(path: String) throws(ForeignFileError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else {
            throw ForeignFileError(.unreadable, "the file cannot be opened: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw ForeignFileError(.unreadable, "it is not a regular file")
        }
        number = opened
    }

    deinit {
        close(number)
    }
}
