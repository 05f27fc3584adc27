import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// The items of a past state of a keychain, once a person has given its password.
@BusActor
struct PastItems {
    /// The most labels in one call.
    nonisolated static let labelsPerCall = 100

    private let backup: StagedBackup
    private let present: Collection
    private let restorations: Restorations

    /// Throws `NoSuchObject` if the keychain no longer exists: only a restore of the whole brings it back.
    init(_ backup: StagedBackup, _ restorations: Restorations) throws(BusError) {
        guard let present = restorations.vault.original(of: backup) else {
            throw BusError(.noSuchObject, "the keychain no longer exists; restore the whole copy")
        }
        self.backup = backup
        self.present = present
        self.restorations = restorations
    }

    /// Asks for the password, and returns the differences to the present keychain.
    func differences(for client: Client) async throws(BusError) -> [ItemDifference] {
        let headline = Text("Compare the keychain “\(label)” with its state of \(backup.modified.text)")
        return try await opened(for: client, headline) { (past) async throws(BusError) in
            present.differences(from: past)
        }
    }

    /// Asks for the password, and puts items back that have changed or are gone.
    ///
    /// - Returns: the number of items, and the labels of those that are protected or not written for sure.
    func restore(_ labels: [String], for client: Client) async throws(BusError) -> (UInt32, refused: [String]) {
        guard !labels.isEmpty else { throw BusError(.invalidArguments, "no item is named") }
        let names = ItemNames.summary(labels, first: 3)
        let headline = Text("Put \(names) of the keychain “\(label)” back as of \(backup.modified.text)")
        return try await opened(for: client, headline) { (past) async throws(BusError) in
            try await putBack(Set(labels), from: past, for: client)
        }
    }

    private func putBack(
        _ labels: Set<String>,
        from past: BackupContents,
        for client: Client
    ) async throws(BusError) -> (UInt32, refused: [String]) {
        let wanted = present.differences(from: past).filter { difference in
            difference.kind != .added && labels.contains(difference.label)
        }
        guard !wanted.isEmpty else {
            throw BusError(.noSuchObject, "no item of this name has changed or is gone since then")
        }
        try await translatingErrors { () async throws(VaultError) in try await present.keepPast() }
        var restored: UInt32 = 0
        var refused: [String] = []
        for difference in wanted {
            do throws(VaultError) {
                tell(of: try await present.putBack(difference, from: past))
                restored += 1
            } catch {
                refused.append(difference.label)
                restorations.logger.notice(
                    "An item of a past state was not put back",
                    metadata: ["keychain": "\(present.name)", "item": "\(difference.item)", "reason": "\(error.code)"]
                )
            }
        }
        return (restored, refused)
    }

    private func tell(of creation: ItemCreation) {
        let changes = restorations.unlocker.changes
        switch creation {
        case .created(let id): changes.itemCreated(id, in: present)
        case .replaced(let id): changes.itemChanged(id, in: present, .all)
        }
    }

    private var label: String { PromptText.name(present.label) }

    /// Asks for the password of the past state, unlocks the present keychain, and opens the state.
    private func opened<Result>(
        for client: Client,
        _ headline: Text,
        _ body: (BackupContents) async throws(BusError) -> Result
    ) async throws(BusError) -> Result {
        try await client.asking { (conversation) async throws(BusError) in
            restorations.ask(about: backup, in: conversation)
            let caller = await client.caller()
            guard (try? await conversation.begin()) == true else { throw Self.refusal }
            // A person may have limited the program in an earlier dialog.
            try client.checkUnconfined()
            let asked = await conversation.askPassword(
                verifiedBy: BackupKey(of: backup, in: restorations.vault),
                countedBy: restorations.lockout(of: backup)
            ) {
                conversation.backupKeyRequest(
                    headline,
                    Text(
                        backup.itemCount,
                        one: "The copy has \(backup.itemCount) item.",
                        other: "The copy has \(backup.itemCount) items."
                    ),
                    for: caller
                )
            }
            guard let key = restorations.unlocker.passwords.rightPassword(asked),
                await restorations.unlocker.unlock(present, asking: conversation, for: client),
                !conversation.isEnded, client.isConnected
            else { throw Self.refusal }
            let past: BackupContents
            do throws(VaultError) {
                past = try await restorations.vault.contents(of: backup, openedBy: key)
            } catch {
                throw BusError(error)
            }
            try client.checkUnconfined()
            return try await body(past)
        }
    }

    private static let refusal = BusError(.accessDenied, "nobody entered the password of the copy")
}
