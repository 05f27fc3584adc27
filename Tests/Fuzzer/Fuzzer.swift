import Glibc
import KeychaindForeignFiles
import KeychaindGcrypt

/// The readers that `FUZZ` chooses; of encrypted files also what comes behind the decryption.
private enum Reader: String {
    case keyring
    case keyringItems = "keyring-items"
    case keyringText = "keyring-text"
    case wallet
    case walletFolders = "wallet-folders"
    case walletAttributes = "wallet-attributes"
    case chromium
    case firefox
    case keepassxc
    case bitwarden

    static let chosen = getenv("FUZZ").flatMap { Reader(rawValue: String(cString: $0)) }

    func read(_ bytes: UnsafeRawBufferPointer) throws {
        var summary = ForeignFileSummary()
        let each: (consuming ForeignItem) throws -> Void = { item in _ = item.secret.count }
        switch self {
        case .keyring: _ = try GNOMEKeyringFile(bytes, fileName: "")
        case .keyringItems:
            let types = [UInt32](repeating: 0, count: min(bytes.count / 8, 64))
            try GNOMEKeyringFile.readItems(of: types, in: bytes, keyring: "", &summary, each)
        case .keyringText: try GNOMEKeyringText(bytes, fileName: "").read(&summary, each)
        case .wallet: _ = try KWalletFile(bytes, fileName: "")
        case .walletFolders: try KWalletFile.readFolders(in: bytes, wallet: "", KWalletAttributes(), &summary, each)
        case .walletAttributes: _ = try KWalletAttributes(bytes)
        case .chromium: try readTable(of: .chromium, bytes, &summary, each)
        case .firefox: try readTable(of: .firefox, bytes, &summary, each)
        case .keepassxc: try readTable(of: .keePassXC, bytes, &summary, each)
        case .bitwarden: try BitwardenExport(bytes, name: "").read(&summary, each)
        }
    }

    private func readTable(
        of program: PasswordTable.Program,
        _ bytes: UnsafeRawBufferPointer,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        let reader = try CSVReader(nothing, startingWith: bytes)
        try PasswordTable(program: program, name: "").read(reader, &summary, each)
    }
}

/// The rest of a table whose bytes were given.
private let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// A program of libFuzzer, started by `scripts/fuzz`.
@main
enum Fuzzer {
    static func main() {
        guard Reader.chosen != nil else { preconditionFailure("FUZZ names no reader; see scripts/fuzz") }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments) { testOneInput($0, $1) })
    }
}

private func testOneInput(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: count)
    _ = ForeignFile.format(of: UnsafeRawBufferPointer(rebasing: bytes.prefix(ForeignFile.decidingBytes)))
    try? Reader.chosen?.read(bytes)
    return 0
}
