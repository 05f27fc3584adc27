import Glibc
package import KeychaindCommandLine
import KeychaindFiles
import KeychaindForeignFiles
import KeychaindLanguage

/// Another provider, which can be started on a copy of its files.
package enum ForeignProvider: String, CaseIterable, Sendable {
    case gnomeKeyring = "gnome-keyring"
    case kwallet

    /// The folder of its files; nil without a home folder.
    var folder: String? {
        switch self {
        case .gnomeKeyring: DisplayEnvironment.folder("XDG_DATA_HOME", default: ".local/share").map { $0 + "/keyrings" }
        case .kwallet: DisplayEnvironment.folder("XDG_DATA_HOME", default: ".local/share").map { $0 + "/kwalletd" }
        }
    }

    /// Its programs, the newest first.
    private var programs: [String] {
        switch self {
        case .gnomeKeyring: ["gnome-keyring-daemon"]
        case .kwallet: ["ksecretd", "kwalletd6", "kwalletd5"]
        }
    }

    /// The absolute path of its program; nil if it is not installed.
    var program: String? { programs.lazy.compactMap(InstalledProgram.find).first }

    /// Whether this user has files of it.
    var hasFiles: Bool { files?.isEmpty == false || !filesOfOthers.isEmpty }

    /// The paths of its keychains, in order; nil if the folder cannot be read.
    var files: [String]? { folder.flatMap(keychains(in:)) }

    /// The paths of keychains that are beside its own, but only other programs can read.
    ///
    /// oo7 moves the items of gnome-keyring's keyrings there.
    var filesOfOthers: [String] {
        switch self {
        case .gnomeKeyring: folder.flatMap { keychains(in: $0 + "/v1") } ?? []
        case .kwallet: []
        }
    }

    private func keychains(in folder: String) -> [String]? {
        FolderListing.names(in: folder)?.filter { $0.hasSuffix(fileSuffix) }.map { "\(folder)/\($0)" }
    }

    /// The files of its keychains, each with the object path under which its program shows it.
    ///
    /// None of KWallet, whose program shows what it can read.
    var filesByCollection: [(collection: String, file: String)] {
        guard case .gnomeKeyring = self else { return [] }
        return (files ?? []).map { file in
            let name = file.split(separator: "/").last?.dropLast(fileSuffix.count) ?? ""
            return ("/org/freedesktop/secrets/collection/\(ForeignProvider.encoded(name))", file)
        }
    }

    /// The name of the wallet for new items; nil for other providers, which say it themselves.
    var defaultWallet: String? {
        guard case .kwallet = self else { return nil }
        let folder = DisplayEnvironment.folder("XDG_CONFIG_HOME", default: ".config")
        let settings = folder.map { QtSettings(path: $0 + "/kwalletrc", section: "Wallet") }
        return settings?["Default Wallet"] ?? KWalletLogin.wallet
    }

    /// The file of a wallet; nil for other keychains, and for names that KWallet spells differently in files.
    func walletFile(_ name: String) -> String? {
        guard case .kwallet = self, let folder, !name.contains("/") else { return nil }
        let path = "\(folder)/\(name)\(fileSuffix)"
        return access(path, F_OK) == 0 ? path : nil
    }

    /// The file of a wallet that only a dialog of KWallet would open; nil for others.
    ///
    /// KWallet takes the password of the login's wallet alone, as pam_kwallet passes it, and that only for the default
    /// one. It has no keys of GPG where it reads a copy.
    func fileBehindDialog(of collection: String, isDefault: Bool) -> String? {
        guard let path = walletFile(collection) else { return nil }
        guard collection == KWalletLogin.wallet, isDefault else { return path }
        guard let file = try? ForeignFile(path: path) else { return nil }
        return file.usesGPG ? path : nil
    }

    /// A file's name as gnome-keyring spells it in an object path.
    private static func encoded(_ name: Substring) -> String {
        name.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber)
            return isPlain ? String(character) : "_\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
        }.joined()
    }

    private var fileSuffix: String {
        switch self {
        case .gnomeKeyring: ".keyring"
        case .kwallet: ".kwl"
        }
    }

    /// The only provider of which this user has files; throws if there is none or several.
    package static func only() throws(CommandFailure) -> ForeignProvider {
        let found = allCases.filter(\.hasFiles)
        guard let first = found.first else {
            throw CommandFailure(
                .notFound,
                "there is nothing to import: gnome-keyring, oo7 and KWallet have no files here"
            )
        }
        guard found.count == 1 else {
            let names = found.map(\.rawValue).joined(separator: " and ")
            throw CommandFailure(.refused, "there are files of \(names); name one with --from")
        }
        return first
    }
}
