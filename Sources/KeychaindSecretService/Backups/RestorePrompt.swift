import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Restores a backup once its password has been given, and that of the keychain it replaces; the result is the path.
@BusActor
final class RestorePrompt: PromptAction {
    let backup: StagedBackup
    private let name: CollectionName
    private let restorations: Restorations

    init(_ backup: StagedBackup, as name: CollectionName, restorations: Restorations) {
        self.backup = backup
        self.name = name
        self.restorations = restorations
    }

    var emptyResult: Variant { .objectPath(.root) }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        restorations.ask(about: backup, in: conversation)
        guard (try? await conversation.begin()) == true else { return .dismissed(emptyResult) }
        let present = restorations.vault.collection(named: name)
        guard let key = await askBackupKey(replacing: present, asking: conversation, for: client),
            // It may have ended while the password was tried.
            !conversation.isEnded,
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

    /// Asks for the password or recovery key of the backup until it is correct; nil if it is not given.
    private func askBackupKey(
        replacing present: Collection?,
        asking conversation: Conversation,
        for client: Client
    ) async -> SecureBytes? {
        let caller = await client.caller()
        let asked = await conversation.askPassword(
            verifiedBy: BackupKey(of: backup, in: restorations.vault),
            countedBy: restorations.lockout(of: backup)
        ) {
            let label = PromptText.name(backup.label)
            let place = RestoredPlace(of: backup, as: name, present: present, in: restorations.vault)
            return conversation.backupKeyRequest(
                Text("Restore the keychain “\(label)” as it was on \(backup.modified.text)"),
                place.description(itemCount: backup.itemCount),
                for: caller
            )
        }
        return restorations.unlocker.passwords.rightPassword(asked)
    }

    /// Whether the present keychain may be replaced: the same key opens it, or the past states of a missing one; or a
    /// person has opened it, or has seen that it cannot be read.
    private func mayReplace(
        _ present: Collection?,
        with key: consuming SecureBytes,
        asking conversation: Conversation,
        for client: Client
    ) async -> Bool {
        guard let present else { return true }
        // The password of a restored `login` would become the passcode of items elsewhere.
        if present.isVacant { return restorations.unlocker.collections.mayGetFirstPassword(present) }
        if present.isMissing {
            if await opensPast(of: present, key, asking: conversation) { return true }
            return await isByPerson(conversation)
        }
        if case .unreadable = present.state { return await isByPerson(conversation) }
        if restorations.vault.isCopy(backup, of: present) {
            let lockout = restorations.unlocker.passwords.lockouts.lockout(of: present)
            let source = PasswordLockout.Source(conversation.trustOfAnswer)
            if await lockout.attempt(key, on: KeychainKey(of: present), from: source) == .right { return true }
        }
        let opened = await restorations.unlocker.passwords.askKey(
            of: present,
            for: .restoration,
            asking: conversation,
            for: client
        )
        return opened != nil
    }

    /// Whether the key opens the newest past file of a keychain whose file is missing: programs cannot put one there.
    private func opensPast(
        of missing: Collection,
        _ key: consuming SecureBytes,
        asking conversation: Conversation
    ) async -> Bool {
        guard let newest = try? await restorations.vault.stageNewestPastFile(of: missing) else { return false }
        let verifier = BackupKey(of: newest, in: restorations.vault)
        let source = PasswordLockout.Source(conversation.trustOfAnswer)
        return await restorations.lockout(of: newest).attempt(key, on: verifier, from: source) == .right
    }

    /// Whether a person has answered the dialog, which is still shown; logs if not.
    ///
    /// A keychain that is missing or cannot be read has no password to ask for, and may be there again soon: a program
    /// that makes a keychain and a dialog of its own must not replace it.
    private func isByPerson(_ conversation: Conversation) async -> Bool {
        let trust = await conversation.trust()
        guard let objection = conversation.trustOfAnswer.objection ?? trust.objection else { return true }
        restorations.logger.error(
            "A keychain that is missing or cannot be read is not replaced: nobody is known to have agreed",
            metadata: ["keychain": "\(name)", "reason": "\(objection)"]
        )
        return false
    }
}

/// Verifies the password or recovery key of a backup without restoring it.
@BusActor
final class BackupKey: PasswordVerifier {
    private let backup: StagedBackup
    private let vault: Vault

    init(of backup: StagedBackup, in vault: Vault) {
        self.backup = backup
        self.vault = vault
    }

    var isSet: Bool { true }

    func verify(_ key: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            try await vault.verify(key, opens: backup)
            return .right
        } catch {
            return PasswordResult(error)
        }
    }
}

extension Timestamp {
    /// The minute in the system's time zone, such as `2026-05-03 14:02`.
    var text: String {
        var time = time_t(microsecondsSinceEpoch / 1_000_000)
        var parts = tm()
        localtime_r(&time, &parts)
        func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let day = [String(Int(parts.tm_year) + 1900), digits(parts.tm_mon + 1), digits(parts.tm_mday)]
        return "\(day.joined(separator: "-")) \(digits(parts.tm_hour)):\(digits(parts.tm_min))"
    }
}
