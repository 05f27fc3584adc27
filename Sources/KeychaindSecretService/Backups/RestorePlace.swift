import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// A client's work with copies of keychains: the copying or reading of files, or a restore.
@BusActor
final class RestorePlace {
    enum Phase {
        /// Copies or reads a file, which may be on a disk that never answers.
        case reading(stop: () -> Void)
        /// Has a copy on the disk, which its prompt or call keeps.
        case staged(Copy)
        /// The person is asked about the copy; a password that is still tried may keep it for longer than the dialog.
        case asking(Copy, Dialog)
        /// Another client has its place; the thread or the prompt may not have ended yet.
        case givenAway
    }

    struct Copy {
        weak var backup: StagedBackup?
    }

    struct Dialog {
        weak var conversation: Conversation?
    }

    let began: Duration
    private(set) weak var client: Client?
    private(set) var phase: Phase

    init(of client: Client, began: Duration, _ phase: Phase) {
        self.client = client
        self.began = began
        self.phase = phase
    }

    /// Whether it counts: a reading that a client has left behind may never end.
    var isTaken: Bool {
        switch phase {
        case .reading: client?.isConnected == true
        case .staged(let copy): copy.backup != nil
        case .asking(let copy, let dialog): copy.backup != nil && dialog.conversation?.isEnded == false
        case .givenAway: false
        }
    }

    func isRestore(of backup: StagedBackup) -> Bool {
        switch phase {
        case .staged(let copy), .asking(let copy, _): copy.backup === backup
        case .reading, .givenAway: false
        }
    }

    /// Remembers the dialog about the copy; the place ends with it.
    func ask(in conversation: Conversation) {
        guard case .staged(let copy) = phase else { return }
        phase = .asking(copy, Dialog(conversation: conversation))
    }

    /// Dismisses a prompt that has not been run; false if there is none.
    func giveAwayUnrun() -> Bool {
        guard case .staged(let copy) = phase, let backup = copy.backup, let client,
            client.dismissUnrun(restoring: backup)
        else { return false }
        phase = .givenAway
        return true
    }

    /// Ends the reading or the dialog.
    func giveAway() {
        let old = phase
        phase = .givenAway
        switch old {
        case .reading(let stop): stop()
        case .asking(_, let dialog): dialog.conversation?.end()
        case .staged, .givenAway: break
        }
    }
}

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
