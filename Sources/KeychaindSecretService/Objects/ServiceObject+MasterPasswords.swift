import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// The unsupported interface of gnome-keyring: scripts create and unlock keychains, Seahorse changes passwords.
///
/// Errors match gnome-keyring 42, but passwords cannot be empty.
extension ServiceObject {
    @BusActor static let masterPasswordInterface = Interface<ServiceObject>(
        InterfaceName.masterPasswords,
        methods: [
            Method(
                suspending: "ChangeWithMasterPassword",
                in: [
                    Parameter("collection", ObjectPath.self),
                    Parameter("original", signature: EncodedSecret.signature),
                    Parameter("master", signature: EncodedSecret.signature),
                ]
            ) { (object, call) async throws(BusError) in
                try await object.change(call)
            },
            Method(
                "ChangeWithPrompt",
                in: [Parameter("collection", ObjectPath.self)],
                out: [Parameter("prompt", ObjectPath.self)]
            ) { (object, call) throws(BusError) in
                let collection = try object.keychain(try call.arguments(ObjectPath.self))
                guard !collection.isEphemeral else { throw BusError.denied }
                let action = KeySlotPrompt(.changePassword, of: collection, unlocker: object.provider.unlocker)
                call.reply(with: try object.client.makePrompt(action))
            },
            Method(
                suspending: "CreateWithMasterPassword",
                in: [
                    Parameter("attributes", [String: Variant].self),
                    Parameter("master", signature: EncodedSecret.signature),
                ],
                out: [Parameter("collection", ObjectPath.self)]
            ) { (object, call) async throws(BusError) in
                try await object.create(call)
            },
            Method(
                suspending: "UnlockWithMasterPassword",
                in: [
                    Parameter("collection", ObjectPath.self),
                    Parameter("master", signature: EncodedSecret.signature),
                ]
            ) { (object, call) async throws(BusError) in
                try await object.unlock(call)
            },
        ]
    )

    /// The keychain at a path; throws if it does not exist or cannot be read.
    @BusActor
    private func keychain(_ path: ObjectPath) throws(BusError) -> Collection {
        guard case .collection(let reference) = SecretPath(path), let collection = provider.vault.find(reference) else {
            throw BusError(.noSuchObject, "The collection does not exist")
        }
        if case .unreadable(let reason) = collection.state { throw BusError(.isLocked, reason) }
        return collection
    }

    /// Reads the password of an `(oayays)`.
    @BusActor
    private func readPassword(_ reader: inout Reader) throws(BusError) -> SecureBytes {
        try client.sessions.readSecret(&reader).takeBytes()
    }

    @BusActor
    private func create(_ call: MethodCall) async throws(BusError) {
        defer { call.message.wipeByteArrays(leaving: 1) }
        var reader = call.message.makeReader()
        let label = try CollectionDescription(from: &reader).label ?? "Unnamed"
        let password = try readPassword(&reader)
        try provider.collections.checkLabel(label)
        guard !password.isEmpty else { throw BusError.emptyPassword }
        do throws(VaultError) {
            // A vacant `login` takes the password of a new keychain of that name.
            if let login = provider.collections.vacant(forAlias: label.lowercased()), login.name == .login {
                try provider.collections.checkFirstPassword(of: login)
                try await provider.unlocker.unlock(login, with: password)
                call.reply(with: ObjectPath.collection(login.name))
            } else {
                let collection = try await provider.collections.create(label: label, password: password)
                call.reply(with: ObjectPath.collection(collection.name))
            }
        } catch {
            throw BusError(error)
        }
    }

    @BusActor
    private func unlock(_ call: MethodCall) async throws(BusError) {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        let path = try ObjectPath(from: &reader)
        let password = try readPassword(&reader)
        let collection = try keychain(path)
        guard !collection.isVacant else { throw BusError(.noSuchObject, "The collection does not exist") }
        if collection.isLocked {
            let verifier = CollectionPassword(of: collection, unlocker: provider.unlocker)
            do throws(BusError) {
                try await attempt(password, on: verifier, of: collection)
            } catch {
                guard verifier.failure?.code == .locked else { throw error }
                throw BusError(.isLocked, error.message)
            }
        }
        call.reply()
    }

    @BusActor
    private func change(_ call: MethodCall) async throws(BusError) {
        defer { call.message.wipeByteArrays() }
        var reader = call.message.makeReader()
        let path = try ObjectPath(from: &reader)
        let old = try readPassword(&reader)
        let new = try readPassword(&reader)
        let collection = try keychain(path)
        guard !collection.isVacant else { throw BusError(.noSuchObject, "The collection does not exist") }
        guard !collection.isEphemeral else { throw BusError.denied }
        guard !new.isEmpty else { throw BusError.emptyPassword }
        let tried: SecureBytes
        do throws(GcryptError) {
            tried = try old.copy(in: .ordinary)
        } catch {
            throw BusError(error)
        }
        try await attempt(tried, on: KeychainKey(of: collection), of: collection)
        do throws(VaultError) {
            try await collection.changePassword(from: old, to: new)
            provider.passwords.passwordChanged(of: collection.name)
        } catch {
            if case .wrong = PasswordResult(error) { throw BusError.denied }
            throw BusError(error)
        }
        call.reply()
    }

    /// Tries a password supplied by a program, within the lockout of programs.
    @BusActor
    private func attempt(
        _ password: consuming SecureBytes,
        on verifier: any PasswordVerifier,
        of collection: Collection
    ) async throws(BusError) {
        let lockout = provider.lockouts.lockout(of: collection)
        switch await lockout.attempt(password, on: verifier, from: .program) {
        case .right, .notNeeded: return
        case .wrong:
            provider.audit.passwordWasWrong(of: collection.name, from: client)
            if collection.name == .login {
                let caller = await client.caller()
                provider.logger.notice("A program supplied a wrong password", metadata: ["program": "\(caller)"])
            }
            throw BusError.denied
        case .tooEarly(let delay):
            throw BusError(
                .keyringDenied,
                "Programs supplied too many wrong passwords. Try again in \(delay.words.english)."
            )
        case .notCounted(let obstacle): throw BusError(.inputOutput, obstacle.warning.english)
        case .failed(let reason): throw BusError(.failed, reason)
        }
    }
}

extension BusError {
    /// The text of gnome-keyring.
    fileprivate static let denied = BusError(.keyringDenied, "The password was invalid")

    fileprivate static let emptyPassword = BusError(.invalidArguments, "the password cannot be empty")
}
