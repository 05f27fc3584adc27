import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// The destination of a backup, and the keychain that it replaces.
struct RestoredPlace {
    private let name: CollectionName
    private let sentence: Text

    @BusActor
    init(of backup: StagedBackup, as name: CollectionName, present: Collection?, in vault: Vault) {
        self.name = name
        guard let present, !present.isVacant, !present.isMissing else {
            sentence = Text("There is no keychain “\(name.description)” now.")
            return
        }
        let label = PromptText.name(present.label)
        if case .unreadable = present.state {
            sentence = Text("It replaces the keychain “\(label)”, which cannot be read. Its file is kept.")
            return
        }
        let changed = present.modified.text
        let count = present.itemCount
        sentence = .joined([
            Text(
                count,
                one: "It replaces the keychain “\(label)”, last changed on \(changed), with \(count) item.",
                other: "It replaces the keychain “\(label)”, last changed on \(changed), with \(count) items."
            ),
            Text("That is kept as a past generation."),
            vault.isCopy(backup, of: present) ? .empty : Text("It is another keychain, with a key of its own."),
        ])
    }

    func description(itemCount: Int) -> Text {
        .joined([
            Text(
                itemCount,
                one: "The backup has \(itemCount) item.",
                other: "The backup has \(itemCount) items."
            ),
            sentence,
        ])
    }
}
