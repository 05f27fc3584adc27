import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct LockCommand: ProviderCommand {
    static let configuration = CommandConfiguration(commandName: "lock", abstract: "Lock keychains; by default all.")

    @Argument(help: "The labels of keychains.")
    var keychains: [String] = []

    func run(_ provider: ProviderAccess) async throws {
        let client = provider.client
        let meant = try await Keychains.several(client, labeled: keychains)
        try await client.lock(meant)
        // A provider that does not lock a keychain answers without an error.
        let session = keychains.isEmpty ? try await client.collection(alias: "session")?.path : nil
        var open: [Text] = []
        for keychain in meant where keychain.path != session {
            if let label = try await Self.labelIfOpen(keychain) { open.append(Text("“\(label.visible)”")) }
        }
        guard open.isEmpty else { throw CommandFailure(.incomplete, "not locked: \(Text.list(open))") }
    }

    /// Nil also if the keychain was deleted meanwhile.
    private static func labelIfOpen(_ keychain: SecretCollection) async throws(SecretServiceError) -> String? {
        do throws(SecretServiceError) {
            let properties = try await keychain.properties()
            return properties.isLocked ? nil : properties.label
        } catch {
            guard error.code == .noSuchObject else { throw error }
            return nil
        }
    }
}

struct UnlockCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock keychains; by default the one for new items.",
        discussion: "A dialog asks for the password; with --password-fd it is read instead."
    )

    @Argument(help: "The labels of keychains.")
    var keychains: [String] = []

    @Flag(help: "Unlock all keychains.")
    var all = false

    @Option(help: "Read the password from this descriptor.")
    var passwordFD: Int32?

    func validate() throws {
        guard !all || keychains.isEmpty else { throw ValidationError("name keychains, or use --all") }
        try Descriptors.check(passwordFD, of: "--password-fd")
    }

    func run(_ provider: ProviderAccess) async throws {
        let client = provider.client
        let meant =
            all || !keychains.isEmpty
            ? try await Keychains.several(client, labeled: keychains)
            : [try await Keychains.one(client, labeled: nil)]
        if let passwordFD {
            return try await unlock(meant, withPasswordFrom: passwordFD, provider.interruption)
        }
        guard try await client.unlock(meant).count == meant.count else {
            throw CommandFailure(.locked, "not all keychains are unlocked")
        }
    }

    private func unlock(
        _ keychains: [SecretCollection],
        withPasswordFrom descriptor: Int32,
        _ interruption: Interruption
    ) async throws {
        let password = try PasswordInput.read(from: descriptor, interruption: interruption.descriptor)
        var wrong: [Text] = []
        for keychain in keychains {
            try Task.checkCancellation()
            if try await keychain.unlock(with: password) { continue }
            let label = try await keychain.label().visible
            wrong.append(Text("“\(label)”"))
        }
        guard !wrong.isEmpty else { return }
        throw CommandFailure(
            .wrongPassword,
            keychains.count == 1
                ? Text("the password is wrong")
                : Text("the password is wrong for \(Text.list(wrong))")
        )
    }
}

struct PasswordCommand: KeychaindCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Change the password of a keychain, in a dialog.",
        discussion: "Asks for the present password or a recovery key, and for the new password."
    )

    @Argument(help: "The label of the keychain; without it, the keychain that opens when you log in.")
    var keychain: String?

    func run(_ provider: ProviderAccess) async throws {
        try await Keychains.one(provider.client, labeled: keychain, alias: "login").changePassword()
    }
}
