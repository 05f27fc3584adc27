import ArgumentParser
import KeychaindCommandLine
import KeychaindImport

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Copy the items of another provider, or of files, into keychaind.",
        discussion: """
            Starts the other provider on a copy of its files, apart from your session, reads all that it has, and \
            writes what keychaind lacks. Nothing of the other provider is changed. Run it as often as you like: an \
            item that keychaind has already is not copied again.

            FILE is a keyring of gnome-keyring, oo7 or libsecret's file backend, a wallet of KWallet, a table of \
            passwords (CSV), or an export of Bitwarden or in the Credential Exchange Format (JSON). With --from \
            keepassxc it is a database of KeePassXC.
            """
    )

    @Argument(help: "Files to read instead of a provider.", completion: .file())
    var file: [String] = []

    @Option(help: "The provider: \(SourceName.allCases.map(\.rawValue).joined(separator: ", ")).")
    var from: SourceName?

    @Option(help: "Put all items into this keychain, instead of keeping their keychains.")
    var into: String?

    @Flag(name: .customLong("dry-run"), help: "Show what would be done, and change nothing.")
    var isDryRun = false

    @Flag(help: "Replace items of keychaind that differ, or keep them.")
    var difference: DifferenceChoice?

    @Option(help: "Read the password from this descriptor instead of asking.")
    var passwordFD: Int32?

    func validate() throws {
        try Descriptors.check(passwordFD, of: "--password-fd")
        if from != nil, from != .keepassxc, !file.isEmpty { throw ValidationError("give --from or files, not both") }
        if let into, into.isEmpty { throw ValidationError("--into needs the name of a keychain") }
    }

    func run() async throws {
        let source = try ImportSource.of(from, file)
        // Read before the program has other descriptors.
        let given = try passwordFD.map { Password(try PasswordInput.read(from: $0)) }
        try await Interruption.cancelling { [self] interruption in
            let screen = ImportScreen(interruption)
            let work = Import(
                source: source,
                into: into,
                passwords: ImportPasswords(given: given, interruption: interruption),
                messages: screen
            )
            try await work.run { plan, contents in
                screen.show(plan, contents)
                guard !isDryRun else { return nil }
                let choice = difference
                return { item, keychain in try screen.decide(item, in: keychain, choice) }
            } finish: { report in
                try screen.finish(report)
            }
        }
    }
}

extension ImportSource {
    /// The source that a command line names.
    static func of(_ name: SourceName?, _ files: [String]) throws(CommandFailure) -> ImportSource {
        switch name {
        case .gnomeKeyring: .provider(.gnomeKeyring)
        case .kwallet: .provider(.kwallet)
        case .keepassxc: .keePassXC(files)
        case nil: files.isEmpty ? .provider(try ForeignProvider.only()) : .files(files)
        }
    }
}

/// A provider on the command line.
enum SourceName: String, CaseIterable, ExpressibleByArgument {
    case gnomeKeyring = "gnome-keyring"
    case kwallet
    case keepassxc
}

/// The decision for all items that differ.
enum DifferenceChoice: String, EnumerableFlag {
    case replace
    case keep

    static func help(for value: DifferenceChoice) -> ArgumentHelp? {
        switch value {
        case .replace: "Replace items of keychaind that differ."
        case .keep: "Keep items of keychaind that differ."
        }
    }
}
