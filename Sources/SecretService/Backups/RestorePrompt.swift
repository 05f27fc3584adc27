import Authentication
import DBus
import Desktop
import Gcrypt
import KeychainModel
import Logging
import Vault

/// Puts a backup in the place of a keychain, once its password has been given, and that of the keychain; the result is its path.
@BusActor
final class RestorePrompt: PromptAction {
    private let backup: StagedBackup
    private let name: CollectionName
    private let restorations: Restorations

    init(_ backup: StagedBackup, as name: CollectionName, restorations: Restorations) {
        self.backup = backup
        self.name = name
        self.restorations = restorations
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        guard (try? await conversation.begin()) == true else { return .dismissed(emptyResult) }
        let present = restorations.vault.collection(named: name)
        guard let key = await askBackupKey(replacing: present, asking: conversation, for: client),
            await mayReplace(present, with: key, asking: conversation, for: client), !conversation.isEnded
        else { return .dismissed(emptyResult) }
        do throws(VaultError) {
            try await restorations.unlocker.collections.restore(backup, as: name, inPlaceOf: present, by: client)
            return .done(.objectPath(.collection(name)))
        } catch {
            restorations.logger.error(
                "A keychain could not be restored",
                metadata: ["keychain": "\(name)", "reason": "\(error)"]
            )
            return .dismissed(emptyResult)
        }
    }

    /// Asks for what opens the backup, again while it is wrong; nil if that came to nothing.
    private func askBackupKey(
        replacing present: Collection?,
        asking conversation: Conversation,
        for client: Client
    ) async -> SecureBytes? {
        let caller = await client.identity()
        let verifier = BackupKey(of: backup, in: restorations.vault)
        var warning = ""
        while true {
            let answer = await conversation.askBackupKey(
                of: PromptText.name(backup.label),
                from: backup.modified,
                itemCount: backup.itemCount,
                RestoredPlace(of: backup, as: name, present: present, in: restorations.vault),
                for: caller,
                warning: warning
            )
            guard let key = answer, let kept = try? key.copy(in: .locked) else { return nil }
            switch await restorations.lockout.attempt(key, on: verifier) {
            case .right: return kept
            case .failed(let reason):
                restorations.logger.error("A password could not be verified", metadata: ["reason": "\(reason)"])
                return nil
            case let failed: warning = failed.warning(isMistyped: verifier.isMistyped)
            }
        }
    }

    /// Whether what is there now may go: nothing, what cannot be read, what the same key opens, or what a person has opened.
    private func mayReplace(
        _ present: Collection?,
        with key: consuming SecureBytes,
        asking conversation: Conversation,
        for client: Client
    ) async -> Bool {
        guard let present else { return true }
        // Its password would be the passcode of what is protected elsewhere.
        if present.isVacant { return restorations.unlocker.collections.mayGetFirstPassword(present) }
        if case .unreadable = present.state { return true }
        if restorations.vault.isCopy(backup, of: present) {
            let attempt = await restorations.unlocker.passwords.attempt(
                key,
                on: KeychainKey(of: present),
                of: present
            )
            if case .right = attempt { return true }
        }
        let opened = await restorations.unlocker.passwords.askKey(
            of: present,
            for: .restoration,
            asking: conversation,
            for: client
        )
        return opened != nil
    }
}

/// What opens a backup, verified without restoring it.
@BusActor
private final class BackupKey: Passcode {
    private let backup: StagedBackup
    private let vault: Vault
    /// Whether the last one reads like a recovery key with a mistake in it.
    private(set) var isMistyped = false

    init(of backup: StagedBackup, in vault: Vault) {
        self.backup = backup
        self.vault = vault
    }

    var isSet: Bool { true }

    func verify(_ key: consuming SecureBytes) async -> PasscodeOutcome {
        isMistyped = false
        do throws(VaultError) {
            try await vault.verify(key, opens: backup)
            return .right
        } catch  where error.isWrongKey {
            isMistyped = error.code == .mistypedRecoveryKey
            return .wrong
        } catch {
            return .failed(reason: error.reason)
        }
    }
}
