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
    private let provider: Provider

    init(_ backup: StagedBackup, as name: CollectionName, provider: Provider) {
        self.backup = backup
        self.name = name
        self.provider = provider
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation) async -> PromptOutcome {
        guard (try? await conversation.begin()) == true else { return .dismissed(emptyResult) }
        let present = provider.vault.collection(named: name)
        guard let key = await askBackupKey(replacing: present, asking: conversation),
            await mayReplace(present, with: key, asking: conversation), !conversation.isEnded
        else { return .dismissed(emptyResult) }
        do throws(VaultError) {
            try await provider.restore(backup, as: name, inPlaceOf: present, by: conversation.caller)
            return .done(.objectPath(.collection(name)))
        } catch {
            provider.logger.error(
                "A keychain could not be restored",
                metadata: ["keychain": "\(name)", "reason": "\(error)"]
            )
            return .dismissed(emptyResult)
        }
    }

    /// Asks for what opens the backup, again while it is wrong; nil if that came to nothing.
    private func askBackupKey(replacing present: Collection?, asking conversation: Conversation) async -> SecureBytes? {
        let caller = await provider.callers.caller(conversation.caller)
        let verifier = BackupKey(of: backup, in: provider.vault)
        var warning = ""
        while true {
            let answer = await conversation.askBackupKey(
                of: PromptText.name(backup.label),
                from: backup.modified,
                itemCount: backup.itemCount,
                RestoredPlace(of: backup, as: name, present: present, in: provider.vault),
                for: caller,
                warning: warning
            )
            guard let key = answer, let kept = try? key.copy(in: .locked) else { return nil }
            switch await provider.restorations.lockout.attempt(key, on: verifier) {
            case .right: return kept
            case .failed(let reason):
                provider.logger.error("A password could not be verified", metadata: ["reason": "\(reason)"])
                return nil
            case let failed: warning = failed.warning(isMistyped: verifier.isMistyped)
            }
        }
    }

    /// Whether what is there now may go: nothing, what cannot be read, what the same key opens, or what a person has opened.
    private func mayReplace(
        _ present: Collection?,
        with key: consuming SecureBytes,
        asking conversation: Conversation
    ) async -> Bool {
        guard let present else { return true }
        // Its password would be the passcode of what is protected elsewhere.
        if present.isVacant { return provider.mayBeMade(present) }
        if case .unreadable = present.state { return true }
        if provider.vault.isCopy(backup, of: present) {
            let attempt = await provider.attempt(key, on: KeychainKey(of: present), of: present)
            if case .right = attempt { return true }
        }
        return await provider.askKey(of: present, for: .restoration, asking: conversation) != nil
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

extension Provider {
    /// Puts a backup in the place of a collection, and tells everybody.
    fileprivate func restore(
        _ backup: StagedBackup,
        as name: CollectionName,
        inPlaceOf present: Collection?,
        by caller: String
    ) async throws(VaultError) {
        let isAudited = (present?.protectedItemCount ?? 0) > 0
        let wasThere = vault.collection(named: name) != nil
        defer {
            // Also when it failed: the object is another then, and locked.
            access.endGrants(in: name)
            endProofs(with: name, because: "a backup has taken the place of the login keychain")
            if wasThere { changes.collectionDeleted(name, all: collectionPaths) }
            if vault.collection(named: name) != nil { changes.collectionCreated(name, all: collectionPaths) }
        }
        _ = try await vault.restore(backup, as: name, inPlaceOf: present)
        if isAudited { audit.deleted(.collection(name), by: caller) }
        logger.notice(
            "A keychain was restored from a backup",
            metadata: ["keychain": "\(name)", "of": "\(backup.modified.text)"]
        )
    }
}
