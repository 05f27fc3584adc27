import KeychaindAuthentication
import KeychaindDesktop
import KeychaindModel

/// The purpose of an authentication.
struct AuthenticationPurpose {
    let caller: Caller

    var action = ItemAction.use

    /// The items, each named in the dialog; empty if a program asks only who is present.
    let names: [ItemName]

    let settings: AuthenticationSettings

    /// The labels of the items' keychains.
    var keychains: [String] = []

    /// What the answer also opens; nil for nothing.
    var scope: ProofScope?

    /// Label of the keychain whose own password is asked for; nil for the passcode.
    var keychain: String?

    private static let reasonLimit = 300

    /// Maximum bytes of a program name and of a keychain label in a headline.
    ///
    /// A dialog that cuts long texts must still show the words after them.
    private static let callerBytes = 160
    private static let keychainBytes = 100

    /// The message of the system dialog, which shows nothing else of keychaind.
    var message: String {
        [headline + ".", caller.circumstances, "Asked by \(caller).", reason].filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    /// The texts of keychaind's own dialog.
    func words(windowID: String) -> EvaluationWords {
        var words = EvaluationWords(
            message: headline,
            circumstances: circumstances,
            reason: reason,
            caller: caller.fullName,
            callerDetails: caller.details,
            cancelLabel: settings.cancelTitle,
            fallbackLabel: fallbackLabel,
            windowID: windowID
        )
        if let keychain { words.passcodeName = "the password of the keychain “\(PromptText.name(keychain))”" }
        return words
    }

    /// States the program and the approved use, and the time if it covers more than the named items.
    private var headline: String {
        switch (names.isEmpty, scope) {
        case (true, nil): "\(callerName) wants to know that it is you"
        case (true, let scope?): "\(callerName) wants to know that it is you, and \(scope.verb) \(scope.text)"
        case (false, nil): "\(callerName) wants to \(action.text(ItemNames.list(names)))\(time)"
        case (false, let scope?):
            "\(callerName) wants to \(action.text(ItemNames.list(names))), and \(scope.text)"
        }
    }

    /// The programs around the caller, and the keychains of the items.
    private var circumstances: String {
        let labels = keychains.map { label in
            "“\(PromptText.prefix(of: PromptText.name(label), bytes: AuthenticationPurpose.keychainBytes))”"
        }
        let name = labels.count == 1 ? "Keychain" : "Keychains"
        let place = labels.isEmpty ? "" : "\(name): \(labels.joined(separator: ", "))"
        return [caller.circumstances, place].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The headline of a dialog for the password of a keychain, which is the passcode.
    func headline(unlocking keychain: String) -> String {
        let keychain = PromptText.prefix(of: PromptText.name(keychain), bytes: AuthenticationPurpose.keychainBytes)
        let start = "\(callerName) wants to unlock the keychain “\(keychain)”"
        let done = action.text(ItemNames.list(names))
        guard let scope else { return "\(start) and \(done)\(time)" }
        return "\(start), \(done), and \(scope.text)"
    }

    /// The lifetime of the grant, if it is longer than usual.
    private var time: String {
        action == .use && settings.grantReuse > GrantReuse.standard.lifetime ? ", for \(settings.grantReuse.words)" : ""
    }

    private var callerName: String {
        PromptText.prefix(of: caller.name.subject, bytes: AuthenticationPurpose.callerBytes)
    }

    /// The program's reason, quoted to set it apart from keychaind's text.
    var reason: String {
        if settings.reason.isEmpty { return "" }
        return "It says: “\(PromptText.name(settings.reason, limit: AuthenticationPurpose.reasonLimit))”"
    }

    /// The fallback button: empty for none, nil for the default text.
    ///
    /// An item has none by default, as only its policy opens it.
    private var fallbackLabel: String? {
        if settings.hidesFallback || (settings.fallbackTitle.isEmpty && !names.isEmpty) { return "" }
        return settings.fallbackTitle.isEmpty ? nil : settings.fallbackTitle
    }
}

/// The further use of an answer: the context keeps the proof, which serves every item that requires it.
struct ProofScope {
    /// Factors that serve for other items, too.
    let factors: FactorSet

    let reuse: Duration

    /// Whether the answer also allows changes of such items, without their protection.
    var allowsChanges = false

    /// The scope of a policy; an application password proves nothing for other items.
    ///
    /// - Parameter hasOwnPasscode: whether the passcode is the password of another keychain than `login`.
    init(of policy: Policy, for reuse: Duration, hasOwnPasscode: Bool = false) {
        factors = policy.factors.subtracting(hasOwnPasscode ? [.passcode, .applicationPassword] : .applicationPassword)
        self.reuse = reuse
    }

    /// The permitted operations in a dialog.
    var verb: String { allowsChanges ? "use or change" : "use" }

    /// The scope in a dialog, to follow ``verb``.
    var text: String {
        let time = GrantReuse(reuse).isSingle ? "once" : "for \(reuse.words)"
        let hasFinger = !factors.isDisjoint(with: .biometry)
        let means =
            switch (hasFinger, factors.contains(.passcode)) {
            case (true, true): "your fingerprint or password protects"
            case (true, false): "your fingerprint protects"
            case (false, _): "your password protects"
            }
        return "every item that \(means), \(time)"
    }
}

/// An item, as a dialog names it.
struct ItemName {
    let label: String

    /// Whether it is a private key, which a program uses and need not read.
    var isKey = false
}

/// Names of items in a dialog.
///
/// Programs choose the labels, in any length and number: each is cleaned and cut.
enum ItemNames {
    /// Maximum bytes of a name, and of all names in a headline: every prompter shows so much.
    private static let nameBytes = 100
    private static let listBytes = 300

    private static let summaryCount = 8

    /// All names, each in quotation marks.
    static func list(_ names: [ItemName]) -> String {
        names.map(text).joined(separator: separator)
    }

    /// The first names, and the number of others.
    static func summary(_ labels: [String]) -> String {
        let rest = labels.count - summaryCount
        return list(labels.prefix(summaryCount).map { ItemName(label: $0) }) + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Splits items, in order, into parts of at least one item that one dialog can name.
    static func parts<Item>(of items: [Item], name: (Item) -> ItemName) -> [[Item]] {
        var parts: [[Item]] = []
        var room = 0
        for item in items {
            let count = text(name(item)).utf8.count + separator.utf8.count
            if parts.isEmpty || count > room {
                parts.append([])
                room = listBytes
            }
            parts[parts.count - 1].append(item)
            room -= count
        }
        return parts
    }

    private static let separator = ", "

    private static func text(_ name: ItemName) -> String {
        let label = PromptText.prefix(of: PromptText.name(name.label), bytes: nameBytes)
        guard !label.isEmpty else { return name.isKey ? "a key without a name" : "an item without a name" }
        return name.isKey ? "the key “\(label)”" : "“\(label)”"
    }
}
