import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// The destination of a backup, and the keychain that it replaces.
struct RestoredPlace {
    private let name: CollectionName
    private let sentence: String

    @BusActor
    init(of backup: StagedBackup, as name: CollectionName, present: Collection?, in vault: Vault) {
        self.name = name
        guard let present, !present.isVacant else {
            sentence = "There is no keychain “\(name)” now."
            return
        }
        let label = PromptText.name(present.label)
        if case .unreadable = present.state {
            sentence = "It replaces the keychain “\(label)”, which cannot be read. Its file is kept."
            return
        }
        let items = present.itemCount == 1 ? "1 item" : "\(present.itemCount) items"
        sentence =
            "It replaces the keychain “\(label)”, last changed on \(present.modified.text), with \(items). "
            + "That is kept as a past generation."
            + (vault.isCopy(backup, of: present) ? "" : " It is another keychain, with a key of its own.")
    }

    func description(itemCount: Int) -> String {
        let items = itemCount == 1 ? "1 item" : "\(itemCount) items"
        return "The backup has \(items). \(sentence)"
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
