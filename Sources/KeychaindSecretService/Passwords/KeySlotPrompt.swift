import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Changes a keychain's key slots once a person has opened it; the result is an empty string, or why it failed.
@BusActor
final class KeySlotPrompt: PromptAction {
    enum Change {
        case changePassword
        case addPassword(label: String)
        case addRecoveryKey(label: String)
        case addHost(label: String)
        case addLogin(label: String)
        case addSecurityKey(label: String, needsPIN: Bool)
        case remove(Int64, name: Text)
    }

    private let change: Change
    private let collection: Collection
    private let unlocker: Unlocker

    init(_ change: Change, of collection: Collection, unlocker: Unlocker) {
        self.change = change
        self.collection = collection
        self.unlocker = unlocker
    }

    var emptyResult: Variant { .string("") }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        // A keychain without a password gets its first one.
        if collection.isVacant, case .changePassword = change {
            let isDone = await unlocker.unlock(collection, asking: conversation, for: client)
            return isDone ? .done(emptyResult) : .dismissed(emptyResult)
        }
        if case .addLogin = change, let login = unlocker.vault.collection(named: .login) {
            let isOpen = await unlocker.unlock(login, asking: conversation, for: client)
            guard isOpen else { return .dismissed(emptyResult) }
        }
        if case .addRecoveryKey = change, let objection = await conversation.expectedTrust()?.objection {
            // Checked first, so that a person does not type a password in vain: only a trusted dialog may show the key.
            let reason =
                "the dialogs here may not show a recovery key (\(objection)): that takes keychaind-dialog, or GNOME Shell on Wayland"
            return .dismissed(.string(reason))
        }
        let key = await unlocker.passwords.askKey(
            of: collection,
            for: change.reason,
            asking: conversation,
            for: client
        )
        guard let key else { return .dismissed(emptyResult) }
        // The prompt may have been dismissed while the password was verified.
        guard !conversation.isEnded else { return .dismissed(emptyResult) }
        if case .addSecurityKey(let label, let needsPIN) = change {
            return await addSecurityKey(label, needsPIN: needsPIN, openedBy: key, asking: conversation, for: client)
        }
        do throws(VaultError) {
            guard try await make(with: key, asking: conversation, for: client) else { return .dismissed(emptyResult) }
            return succeed()
        } catch {
            return fail(error)
        }
    }

    private func succeed() -> PromptOutcome {
        unlocker.logger.notice(
            "The key slots of a keychain were changed",
            metadata: ["keychain": "\(collection.name)", "change": "\(change.name)"]
        )
        return .done(emptyResult)
    }

    private func fail(_ error: VaultError) -> PromptOutcome {
        unlocker.logger.error("The key slots of a keychain could not be changed", metadata: ["reason": "\(error)"])
        return .dismissed(.string(error.reason))
    }

    private func addSecurityKey(
        _ label: String,
        needsPIN: Bool,
        openedBy key: consuming SecureBytes,
        asking conversation: Conversation,
        for client: Client
    ) async -> PromptOutcome {
        let enrolment = SecurityKeyEnrolment(
            of: collection,
            needsPIN: needsPIN,
            with: unlocker.securityKeys,
            asking: conversation,
            for: await client.caller()
        )
        switch await enrolment.run() {
        case .made(let credential, let secret):
            do throws(VaultError) {
                try await collection.addSecurityKey(credential, secret: secret, label: label, openedBy: key)
                return succeed()
            } catch {
                return fail(error)
            }
        case .cancelled:
            return .dismissed(emptyResult)
        case .failed(let failure):
            unlocker.logger.notice("A security key was not added", metadata: ["reason": "\(failure.text)"])
            return .dismissed(.string(failure.text.english))
        }
    }

    /// Makes the change with a correct key; false if the person cancels.
    private func make(
        with key: consuming SecureBytes,
        asking conversation: Conversation,
        for client: Client
    ) async throws(VaultError) -> Bool {
        let caller = await client.caller()
        switch change {
        case .changePassword, .addPassword:
            let reason: NewPasswordReason
            if case .changePassword = change { reason = .changed } else { reason = .further }
            let asked = await conversation.askNewPassword(
                conversation.newPasswordRequest(of: collection.label, for: caller, insteadOf: reason)
            )
            // The prompt may have been dismissed after the answer.
            guard let new = asked, !conversation.isEnded else { return false }
            if case .addPassword(let label) = change {
                try await collection.addPassword(new, label: label, openedBy: key)
            } else {
                try await collection.changePassword(from: key, to: new)
                unlocker.passwords.passwordChanged(of: collection.name)
            }
        case .addRecoveryKey(let label):
            let recoveryKey = try RecoveryKey()
            let text = try recoveryKey.grouped()
            // The key is added only after it was written down.
            guard await conversation.showRecoveryKey(text, of: collection.label, for: caller), !conversation.isEnded
            else { return false }
            try await collection.add(recoveryKey, label: label, openedBy: key)
        case .addHost(let label):
            try await collection.addHost(unlocker.host, label: label, openedBy: key)
        case .addLogin(let label):
            try await collection.addLogin(label: label, openedBy: key)
        case .addSecurityKey:
            return false
        case .remove(let number, _):
            try await collection.removeKeySlot(number)
            unlocker.passwords.passwordChanged(of: collection.name)
        }
        return true
    }
}

extension KeySlotPrompt.Change {
    /// The name of the change in the log.
    fileprivate var name: String {
        switch self {
        case .changePassword: "new password"
        case .addPassword: "another password"
        case .addRecoveryKey: "recovery key"
        case .addHost: "this computer"
        case .addLogin: "the login keychain"
        case .addSecurityKey: "security key"
        case .remove(let number, _): "slot \(number) removed"
        }
    }

    fileprivate var reason: KeyRequestReason {
        switch self {
        case .changePassword: .changePassword
        case .addPassword: .addPassword
        case .addRecoveryKey: .recoveryKey
        case .addHost: .host
        case .addLogin: .login
        case .addSecurityKey: .securityKey
        case .remove(_, let name): .removal(of: name)
        }
    }
}
