package import KeychaindDesktop
import KeychaindLanguage
import KeychaindVault

/// The texts of the notifications, one function for each subject.
extension DesktopNotification {
    /// - Parameters:
    ///   - mistake: the first mistake with its place.
    ///   - others: the number of further ones.
    package static func mistake(_ mistake: String, others: Int, actions: [Action]) -> DesktopNotification {
        let mistake = PromptText.name(mistake, limit: 300)
        let more =
            others > 0
            ? Text(others, one: "There is one more mistake.", other: "There are more mistakes: \(others).") : .empty
        let rest = Text(
            """
            The rest of the settings is in force. Where a mistake may be about locking, keychains lock with the screen \
            and before sleep. “keychainctl config check” shows what applies.
            """
        )
        return DesktopNotification(
            summary: Text("Mistake in the settings of keychaind"),
            body: .joined([Text(verbatim: "\(mistake)."), more, rest]),
            actions: actions
        )
    }

    static func hostFailed(_ label: String, reason: String, actions: [Action]) -> DesktopNotification {
        let label = PromptText.name(label)
        let reason = PromptText.name(reason, limit: 300)
        return DesktopNotification(
            summary: Text("This computer could not unlock your keychain"),
            body: Text(
                """
                The TPM did not open the keychain “\(label)”: \(reason). Its password is asked for instead. If this \
                happens again, add this computer anew: run “keychainctl slot add --tpm”.
                """
            ),
            actions: actions
        )
    }

    static func auditFailed(reason: String) -> DesktopNotification {
        let reason = PromptText.name(reason, limit: 300)
        return DesktopNotification(
            summary: Text("A program did not get a protected secret"),
            body: Text(
                """
                It was allowed to, but this could not be recorded: \(reason). Once it can be, the program gets the secret \
                when it asks again.
                """
            )
        )
    }

    static func loginPasswordDiffers(_ label: String, actions: [Action]) -> DesktopNotification {
        let label = PromptText.name(label)
        return DesktopNotification(
            summary: Text("Your login password does not open your keychain"),
            body: Text(
                """
                The keychain “\(label)” has another password, perhaps the one that you had before. Unlock it with that \
                password or a recovery key; then you can set it to your login password.
                """
            ),
            actions: actions
        )
    }

    /// - Parameters:
    ///   - isInPart: whether the rest of the keychain can be read.
    ///   - others: the number of further keychains.
    static func unreadable(
        _ collection: Collection,
        isInPart: Bool,
        reason: String,
        others: Int,
        actions: [Action]
    ) -> DesktopNotification {
        let label = PromptText.name(collection.label)
        let reason = PromptText.name(reason, limit: 300)
        let more =
            others > 0
            ? Text(
                others,
                one: "Another keychain has such a problem.",
                other: "Other keychains with such a problem: \(others)."
            ) : .empty
        if isInPart {
            return DesktopNotification(
                summary: Text("A keychain is damaged"),
                body: .joined([
                    Text("A part of the keychain “\(label)” cannot be read: \(reason)."), more,
                ]),
                actions: actions
            )
        }
        return DesktopNotification(
            summary: Text("A keychain cannot be read"),
            body: .joined([
                collection.isMissing
                    ? Text("The file of the keychain “\(label)” is missing. No empty one takes its place.")
                    : Text("The keychain “\(label)” cannot be read: \(reason). Its file is kept as it is."),
                more,
                Text("“keychainctl restore” lists its past states and puts one back."),
            ]),
            actions: actions
        )
    }

    static func replaced(_ label: String, by replacement: Replacement, actions: [Action]) -> DesktopNotification {
        let label = PromptText.name(label)
        let (summary, body) =
            switch replacement {
            case .older:
                (
                    Text("A keychain was replaced by an older one"),
                    Text(
                        """
                        Another program has put an older state of the keychain “\(label)” in its place. What was \
                        changed since is missing.
                        """
                    )
                )
            case .diverged:
                (
                    Text("A keychain was replaced by another state"),
                    Text(
                        """
                        Another program has put a state of the keychain “\(label)” in its place that was changed \
                        elsewhere. Changes that were made here are missing.
                        """
                    )
                )
            case .other:
                (
                    Text("A keychain was replaced by another one"),
                    Text(
                        """
                        Another program has put another keychain in place of “\(label)”. It may have another password.
                        """
                    )
                )
            }
        return DesktopNotification(
            summary: summary,
            body: .joined([body, Text("“keychainctl restore” lists its past states and puts one back.")]),
            actions: actions
        )
    }

    static func readerLocked(_ label: String, actions: [Action]) -> DesktopNotification {
        let label = PromptText.name(label)
        return DesktopNotification(
            summary: Text("The fingerprint reader is locked"),
            body: Text(
                """
                Too many touches did not match. The password of the keychain “\(label)” frees the reader, in any \
                dialog that asks for it.
                """
            ),
            actions: actions
        )
    }
}

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
