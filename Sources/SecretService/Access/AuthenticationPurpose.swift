import Authentication
import Desktop
import KeychainModel

/// What a person is asked to authenticate for, which program asks, and why.
struct AuthenticationPurpose {
    /// The program that asks.
    let caller: Caller

    /// What it wants of the items.
    var action = ItemAction.use

    /// The labels of the items that it is about, which the dialog names one by one; empty if a program wants to know who is there.
    let labels: [String]

    /// How the caller wants it to look.
    let settings: AuthenticationSettings

    /// What the answer opens beside these items; nil for nothing.
    var scope: ProofScope?

    /// The label of the keychain whose own password is asked for instead of the passcode; nil if the passcode is.
    var keychain: String?

    /// How many characters of the program's own words are shown.
    private static let reasonLimit = 300

    /// How many bytes of a headline a program may fill with its own name, and a keychain with its label: what follows must not be
    /// pushed out of a dialog that cuts long texts.
    private static let callerBytes = 160
    private static let keychainBytes = 100

    /// For the system's own dialog, which shows no other words of ours.
    var message: String {
        [headline + ".", "Requested by \(caller).", reason].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The words of a dialog of ours.
    func words(windowID: String) -> EvaluationWords {
        var words = EvaluationWords(
            message: headline,
            reason: reason,
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            cancelLabel: settings.cancelTitle,
            fallbackLabel: fallbackLabel,
            windowID: windowID
        )
        if let keychain { words.passcodeName = "the password of the keychain “\(PromptText.name(keychain))”" }
        return words
    }

    /// What a yes gives to whom; where that is more than the items that are named, for how long.
    private var headline: String {
        switch (labels.isEmpty, scope) {
        case (true, nil): "Confirm that it is you"
        case (true, let scope?): "Let \(callerName) know that it is you, and use \(scope.text)"
        case (false, nil): "Authenticate to \(action.text(ItemNames.list(labels)))\(time)"
        case (false, let scope?): "Let \(callerName) \(action.text(ItemNames.list(labels))), and \(scope.text)"
        }
    }

    /// The same in a dialog that asks for the password of a keychain, which is the passcode.
    func headline(unlocking keychain: String) -> String {
        let keychain = PromptText.prefix(of: PromptText.name(keychain), bytes: AuthenticationPurpose.keychainBytes)
        let start = "Unlock the keychain “\(keychain)”"
        let names = ItemNames.list(labels)
        guard let scope else { return "\(start) and \(action.text(names))\(time)" }
        return "\(start), and let \(callerName) \(action.text(names)), and \(scope.text)"
    }

    /// How long a program may use the items that are named, where it asks for more than what is usual.
    private var time: String {
        action == .use && settings.grantReuse > GrantReuse.standard.lifetime ? ", for \(settings.grantReuse.words)" : ""
    }

    private var callerName: String {
        PromptText.prefix(of: caller.description, bytes: AuthenticationPurpose.callerBytes)
    }

    /// In quotation marks, as these are the program's words and not ours.
    var reason: String {
        if settings.reason.isEmpty { return "" }
        return "It says: “\(PromptText.name(settings.reason, limit: AuthenticationPurpose.reasonLimit))”"
    }

    /// For an item there is no other way than what its policy says; a program that asks who is there may have one of its own.
    private var fallbackLabel: String? {
        if settings.hidesFallback || (settings.fallbackTitle.isEmpty && !labels.isEmpty) { return "" }
        return settings.fallbackTitle.isEmpty ? nil : settings.fallbackTitle
    }
}

/// What a person's answer opens beside what the dialog names: a context keeps what was proved, and it serves for every item that
/// asks for that.
struct ProofScope {
    /// What can be proved that serves for other items, too.
    let factors: FactorSet

    /// For how long.
    let reuse: Duration

    /// The scope of what a policy asks for; a password of an item's own proves something for that only.
    ///
    /// - Parameter hasOwnPasscode: whether the password of another keychain than `login` stands for the passcode.
    init(of policy: Policy, for reuse: Duration, hasOwnPasscode: Bool = false) {
        factors = policy.factors.subtracting(hasOwnPasscode ? [.passcode, .applicationPassword] : .applicationPassword)
        self.reuse = reuse
    }

    /// The scope in a dialog's words, to stand after "use".
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

/// The names of items in a dialog.
///
/// Labels come from programs, and there may be any number of them: each is cleaned and cut.
enum ItemNames {
    /// How many bytes a name may have, and all in one headline: so much is shown by every prompter.
    private static let nameBytes = 100
    private static let listBytes = 300

    /// How many are named where not all have to be.
    private static let summaryCount = 8

    /// All names in a row, each in quotation marks.
    static func list(_ labels: [String]) -> String {
        labels.map(name).joined(separator: separator)
    }

    /// The first names, and how many there are beside them.
    static func summary(_ labels: [String]) -> String {
        let rest = labels.count - summaryCount
        return list(Array(labels.prefix(summaryCount))) + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Cuts items into parts, in order, each of at least one and of as many as one dialog can name.
    static func parts<Item>(of items: [Item], label: (Item) -> String) -> [[Item]] {
        var parts: [[Item]] = []
        var room = 0
        for item in items {
            let count = name(label(item)).utf8.count + separator.utf8.count
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

    private static func name(_ label: String) -> String {
        let name = PromptText.prefix(of: PromptText.name(label), bytes: nameBytes)
        return name.isEmpty ? "an item without a name" : "“\(name)”"
    }
}
