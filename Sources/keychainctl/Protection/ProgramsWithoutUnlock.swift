import KeychaindLanguage
import SecretServiceClient

/// Programs that read an item without calling `Unlock` for it, so that they get nothing of a protected one.
///
/// Chromium is one from version 150, whose own D-Bus client replaces libsecret, until a later version unlocks items.
/// Emacs (`secrets.el`), Proton Mail Bridge and gh before 2.51 unlock the keychain, and not the item. Programs that
/// look at `Locked` first, such as those with Python's SecretStorage, are none: they do not read a locked item.
package struct ProgramsWithoutUnlock {
    /// File names, and names of sandboxes.
    private static let names: Set<String> = [
        "seahorse", "org.gnome.seahorse.Application",
        "chrome", "chromium", "chromium-browser", "org.chromium.Chromium", "com.google.Chrome",
        "brave", "com.brave.Browser", "msedge", "com.microsoft.Edge", "opera", "com.opera.Opera",
        "vivaldi-bin", "com.vivaldi.Vivaldi",
        "emacs", "emacs-gtk", "emacs-lucid", "emacs-nox", "emacs-pgtk", "org.gnu.emacs",
        "bridge", "ch.protonmail.protonmail-bridge", "gh",
    ]

    private static let setting = "access.ask-at-read = "

    /// The value of `ask-at-read` that is in force, as TOML; empty if it is not known.
    private let listed: String

    /// - Parameter settings: those in force, as lines of TOML; nil if they are not known.
    package init(settings: [String]?) {
        let line = settings?.first { line in line.hasPrefix(Self.setting) }
        listed = String(line?.dropFirst(Self.setting.count) ?? "")
    }

    /// What happens to those that have read or tried to read an item, and what helps; empty without any.
    func advice(_ records: some Sequence<AuditRecord>) -> Text {
        guard !listed.contains("\"*\"") else { return .empty }
        let found = Set(records.compactMap(Self.name)).filter { name in !listed.contains("\"\(name)\"") }.sorted()
        guard !found.isEmpty else { return .empty }
        let names = Text.list(found.map(Text.init(verbatim:)))
        // A list takes the place of the one in force.
        let kept = listed.dropFirst().dropLast()
        let value = ((kept.isEmpty ? [] : [String(kept)]) + found.map { name in "\"\(name)\"" }).joined(separator: ", ")
        return Text(
            """
            \(names) may read it without unlocking it first, and then gets nothing. To be asked at such a \
            read, write “ask-at-read = [\(value)]” below “[access]” in the configuration.
            """
        )
    }

    private static func name(of record: AuditRecord) -> String? {
        guard let program = AuditedProgram(record) else { return nil }
        let name = program.name.split(separator: "/").last.map(String.init) ?? program.name
        return names.contains(name) ? name : nil
    }
}
