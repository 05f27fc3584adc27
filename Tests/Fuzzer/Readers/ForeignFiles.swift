import Glibc
import KeychaindForeignFiles
import KeychaindGcrypt

/// Files of other programs; of encrypted ones also what comes behind the decryption.
extension FuzzReader {
    static let foreignFiles = [
        foreignFile("keyring") { bytes, _ in _ = try GNOMEKeyringFile(bytes, fileName: "") },
        foreignFile("keyring-items") { bytes, summary in
            // The first byte is the number of items.
            let types = [UInt32](repeating: 0, count: Int(bytes.first ?? 0))
            let items = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            try GNOMEKeyringFile.readItems(of: types, in: items, keyring: "", &summary, use)
        },
        foreignFile("keyring-text") { bytes, summary in
            try GNOMEKeyringText(bytes, fileName: "").read(&summary, use)
        },
        foreignFile("file-backend") { bytes, _ in _ = try FileBackendKeyring(bytes, fileName: "") },
        foreignFile("file-backend-item") { bytes, _ in try use(FileBackendKeyring.item(in: bytes, keyring: "")) },
        foreignFile("wallet") { bytes, _ in _ = try KWalletFile(bytes, fileName: "") },
        foreignFile("wallet-folders") { bytes, summary in
            try KWalletFile.readFolders(in: bytes, wallet: "", KWalletAttributes(), &summary, use)
        },
        foreignFile("wallet-attributes") { bytes, _ in _ = try KWalletAttributes(bytes) },
        foreignFile("table") { bytes, summary in
            let reader = try CSVReader(nothing, startingWith: bytes)
            try PasswordTable(name: "").read(reader, &summary, use)
        },
        foreignFile("credential-exchange") { bytes, summary in
            try CredentialExchangeFile(bytes, name: "").read(&summary, use)
        },
        foreignFile("bitwarden") { bytes, summary in try BitwardenExport(bytes, name: "").read(&summary, use) },
    ]

    private static func foreignFile(
        _ name: String,
        _ read: @escaping @Sendable (UnsafeRawBufferPointer, inout ForeignFileSummary) throws -> Void
    ) -> FuzzReader {
        FuzzReader(name) { bytes in
            _ = ForeignFile.format(of: UnsafeRawBufferPointer(rebasing: bytes.prefix(ForeignFile.decidingBytes)))
            var summary = ForeignFileSummary()
            try read(bytes, &summary)
        }
    }

    private static func use(_ item: consuming ForeignItem) throws { _ = item.secret.count }

    /// The rest of a table whose bytes were given.
    private static let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
}
