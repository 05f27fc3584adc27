import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// The keychains of keychaind as an import finds, opens and creates them.
struct TargetKeychains: Sendable {
    let target: TargetProvider
    let passwords: ImportPasswords
    let messages: any ImportMessages

    /// The name of the keychain that a login opens.
    static let login = "login"

    private static let tries = 3

    private var client: SecretClient { target.client }

    /// Where a keychain of a source goes: found and unlocked, missing, or closed.
    enum Place: Sendable {
        case unlocked(SecretCollection)
        /// Nothing is there yet.
        case missing
        /// No password opened it.
        case locked
    }

    /// Finds a keychain by name, and unlocks it.
    func find(_ name: String, password: Password?) async throws -> Place {
        guard let collection = try await collection(name) else { return .missing }
        guard try await collection.isLocked() else { return .unlocked(collection) }
        for candidate in candidates(password) {
            guard let isOpen = try await unlock(collection, with: candidate) else { return .missing }
            if isOpen { return .unlocked(collection) }
        }
        guard target.isPrivate else { return try await unlockByPrompt(collection) }
        for _ in 0..<TargetKeychains.tries {
            guard let typed = try await passwords.ask(Text("Password of keychaind's keychain “\(name.visible)”")) else {
                break
            }
            guard let isOpen = try await unlock(collection, with: typed) else { return .missing }
            if isOpen { return .unlocked(collection) }
            messages.tell(Text("That is not its password."))
        }
        return .locked
    }

    /// Creates a keychain, whose password is that of the source, or else a new one.
    ///
    /// Nil if no person can choose a password.
    func create(_ name: String, password: Password?) async throws -> SecretCollection? {
        var chosen = candidates(password).first
        if chosen == nil {
            chosen = try await passwords.askNew(
                name == TargetKeychains.login
                    ? Text("New password for the keychain “\(name.visible)”: use your login password")
                    : Text("New password for the keychain “\(name.visible)”")
            )
        }
        guard let chosen else { return nil }
        return try await client.createCollection(label: name, password: chosen.bytes)
    }

    func makeDefault(_ collection: SecretCollection) async throws {
        try await client.setAlias("default", to: collection)
    }

    /// Gives the keychain `login` the label under which programs look for it, unless it has another one, or another
    /// keychain has it.
    func label(_ collection: SecretCollection, _ label: String) async throws {
        guard try await collection.label().lowercased() == TargetKeychains.login,
            try await self.collection(label) == nil
        else { return }
        try await collection.setLabel(label)
    }

    private func collection(_ name: String) async throws(SecretServiceError) -> SecretCollection? {
        if name == TargetKeychains.login { return try await client.collection(alias: name) }
        for collection in try await client.collections() where try await collection.label() == name {
            return collection
        }
        return nil
    }

    /// keychaind takes no empty passwords, and a person cannot type the secret of a portal.
    private func candidates(_ password: Password?) -> [Password] {
        [password, passwords.given].compactMap(\.self).filter { !$0.isEmpty && $0.isText }
    }

    /// Whether the password is right; nil if the keychain has none yet.
    private func unlock(
        _ collection: SecretCollection,
        with password: Password
    ) async throws(SecretServiceError) -> Bool? {
        do throws(SecretServiceError) {
            return try await collection.unlock(with: password.bytes)
        } catch {
            if error.code == .noSuchObject { return nil }
            throw error
        }
    }

    private func unlockByPrompt(_ collection: SecretCollection) async throws(SecretServiceError) -> Place {
        messages.tell(Text("keychaind asks for a password in a dialog."))
        do throws(SecretServiceError) {
            try await collection.unlock()
            return .unlocked(collection)
        } catch {
            if error.code == .dismissed { return .locked }
            throw error
        }
    }
}
