import Glibc
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
