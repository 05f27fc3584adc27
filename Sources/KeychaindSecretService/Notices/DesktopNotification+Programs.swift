import KeychaindDesktop
import KeychaindLanguage

/// The texts of notifications about programs.
extension DesktopNotification {
    /// The most items that a notification names.
    static let shownItems = 3

    /// - Parameters:
    ///   - count: the number of items.
    ///   - labels: those of the first.
    static func reads(
        _ read: ProgramRead,
        _ count: Int,
        _ labels: [String],
        _ actions: [Action]
    ) -> DesktopNotification {
        let name = read.name.subject
        let isShared = read.caller.isEmpty
        let names = Text.list(labels.map { Text("“\(PromptText.name($0))”") })
        let rest = count - labels.count
        let more = Text(rest, one: "\(names) and \(rest) more.", other: "\(names) and \(rest) more.")
        let rule = PromptText.name(read.rule, limit: 300)
        return DesktopNotification(
            summary: isShared
                ? Text(
                    count,
                    one: "Other programs have read \(count) secret",
                    other: "Other programs have read \(count) secrets"
                )
                // Translators: a program, such as "the application “com.usebottles.bottles”"
                : Text(count, one: "\(name) has read \(count) secret", other: "\(name) has read \(count) secrets"),
            body: .joined([
                rest > 0 ? more : Text("\(names)."), Text("You hear of it by the rule “\(rule)”."),
                isShared ? .empty : read.details,
            ]),
            actions: actions
        )
    }

    static func unconfirmed(_ sandbox: String, _ actions: [Action]) -> DesktopNotification {
        let name = ProgramName(identity: sandbox).subject
        let identity = PromptText.name(sandbox, limit: 300)
        return DesktopNotification(
            summary: Text("\(name) sees all items of your keychains"),
            body: Text(
                """
                It was there before programs in sandboxes were limited to their own items. “keychainctl sandboxes show \
                \(identity)” lists what it has used. Limit it, and it keeps these items only.
                """
            ),
            actions: actions
        )
    }
}
