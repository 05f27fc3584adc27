import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindLanguage
import SecretServiceClient

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "List past states of keychains, and put them back.",
        discussion: """
            Without arguments lists what there is. keychaind asks for the password that the keychain had at that time, \
            and keeps the present state before it changes anything. An archive has its own password, and adds what is \
            missing unless --item names what to replace.
            """
    )

    @Argument(help: "A past state from the list, the file of a keychain, or an archive of “keychainctl export”.")
    var copy: String?

    @Flag(help: "Show the difference to the present keychain, and change nothing.")
    var diff = false

    @Option(help: "Put only the items of this name back; may be repeated.")
    var item: [String] = []

    @Option(help: "Read the password of an archive from this descriptor instead of asking.")
    var passwordFD: Int32?

    func validate() throws {
        try Descriptors.check(passwordFD, of: "--password-fd")
        if copy == nil, diff || !item.isEmpty { throw ValidationError("name a past state from the list") }
        if copy == nil, passwordFD != nil { throw ValidationError("--password-fd needs an archive") }
        if diff, !item.isEmpty { throw ValidationError("--diff changes nothing; leave out --item") }
        if item.count > 100 { throw ValidationError("name at most 100 items") }
    }

    func run() async throws {
        try await Interruption.cancelling { [self] interruption in
            do {
                let client = try await SecretClient.connect()
                if let copy, let archive = try ArchiveSource(copy) {
                    try await restore(archive, to: client, interruption)
                } else {
                    try checkPassword()
                    try await run(client)
                }
            } catch let error as SecretServiceError {
                throw CopyList.failure(error)
            }
        }
    }

    /// keychaind asks for the password of a past state or a keychain's file itself.
    private func checkPassword() throws(ValidationError) {
        guard passwordFD != nil, let copy else { return }
        throw ValidationError("“\(copy.visible)” is not an archive, so nothing reads the password of --password-fd")
    }

    private func restore(
        _ archive: ArchiveSource,
        to client: SecretClient,
        _ interruption: Interruption
    ) async throws {
        let all = try archive.items(passwordFD: passwordFD, interruption)
        let restoration = try await ArchiveRestoration(all, named: item, with: client)
        if diff {
            restoration.showDifferences()
        } else if item.isEmpty {
            try await restoration.addMissing()
        } else {
            try await restoration.putBack()
        }
    }

    private func run(_ client: SecretClient) async throws {
        guard let copy else { return CopyList.print(try await client.keychainCopies()) }
        let isListed = try await client.keychainCopies().contains { listed in listed.id == copy }
        if diff || !item.isEmpty {
            guard isListed else { throw Self.unlisted(copy) }
            if diff { try await showDifferences(client, copy) } else { try await restoreItems(client, copy) }
            return
        }
        if isListed {
            try await client.restore(copy: copy)
        } else {
            try await client.restore(file: try Self.open(copy))
        }
        Terminal.say("The keychain is restored and locked. Its former state is in the list as a generation.")
    }

    private func showDifferences(_ client: SecretClient, _ copy: String) async throws {
        let differences = try await client.differences(from: copy)
        for kind in [KeychainDifference.Kind.added, .changed, .removed] {
            for difference in differences where difference.kind == kind {
                let name = Text("“\(difference.label.visible)”")
                let line =
                    switch kind {
                    case .added: Text("added since  \(name)")
                    case .changed: Text("changed since  \(name)")
                    case .removed: Text("removed since  \(name)")
                    }
                Terminal.say(difference.isProtected ? Text("\(line)  (protected)") : line)
            }
        }
        if differences.isEmpty { Terminal.say("The keychain is as it was then.") }
    }

    private func restoreItems(_ client: SecretClient, _ copy: String) async throws {
        let (restored, refused) = try await client.restore(items: item, from: copy)
        Terminal.say(CopyList.restored(restored))
        guard !refused.isEmpty else { return }
        let names = Text.list(refused.map { label in Text("“\(label.visible)”") })
        throw CommandFailure(
            .incomplete,
            "not put back: \(names); a protected item comes back only with its whole keychain"
        )
    }

    private static func open(_ path: String) throws(CommandFailure) -> FileDescriptor {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { throw unlisted(path) }
            let reason = String(cString: strerror(errno))
            throw CommandFailure(.inputOutput, "“\(path.visible)” cannot be opened: \(reason)")
        }
        return FileDescriptor(owning: descriptor)
    }

    private static func unlisted(_ copy: String) -> CommandFailure {
        CommandFailure(.notFound, "there is no past state “\(copy.visible)”; “keychainctl restore” lists them")
    }
}

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make sealed copies of all keychains now.",
        discussion: "The copies open with the passwords and recovery keys of the keychains, on any computer.",
        subcommands: [Make.self, List.self],
        defaultSubcommand: Make.self
    )

    struct Make: CopiesCommand {
        static let configuration = CommandConfiguration(commandName: "make", abstract: "Make the copies (default).")

        func run(_ provider: ProviderAccess) async throws {
            CopyList.print(try await provider.client.backUpKeychains())
        }
    }

    struct List: CopiesCommand {
        static let configuration = CommandConfiguration(abstract: "List the backups.")

        func run(_ provider: ProviderAccess) async throws {
            CopyList.print(try await provider.client.keychainCopies().filter(\.isBackup))
        }
    }
}

/// A command about past states of keychains.
protocol CopiesCommand: KeychaindCommand {}

extension CopiesCommand {
    func failure(_ error: SecretServiceError) -> CommandFailure { CopyList.failure(error) }
}

/// The list of past states on the terminal.
enum CopyList {
    static func print(_ copies: [KeychainCopy]) {
        guard !copies.isEmpty else { return Terminal.say("There is no past state of a keychain yet.") }
        for copy in copies {
            let items = Text(copy.itemCount, one: "\(copy.itemCount) item", other: "\(copy.itemCount) items")
            let keychain = Text("“\(copy.keychain.visible)”")
            Terminal.say("\(Time.minute(copy.modified))  \(items)  \(keychain)  \(copy.id.visible)")
        }
    }

    static func restored(_ count: some BinaryInteger) -> Text {
        Text(count, one: "\(count) item is as it was then.", other: "\(count) items are as they were then.")
    }

    static func failure(_ error: SecretServiceError) -> CommandFailure {
        switch error.code {
        case .notSupported: .notKeychaind
        case .accessDenied: CommandFailure(.cancelled, Text(verbatim: error.reason.visible))
        default: .ofKeychaind(error, mistakes: .badData)
        }
    }
}
