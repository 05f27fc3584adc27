import Authentication
import Desktop

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
