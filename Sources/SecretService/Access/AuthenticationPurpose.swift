import Authentication

/// What a person is asked to authenticate for, which program asks, and why.
struct AuthenticationPurpose {
    /// The program that asks.
    let caller: Caller

    /// The labels of the items that are to be released; empty if a program wants to know only who is there.
    let labels: [String]

    /// How the caller wants it to look.
    let settings: AuthenticationSettings

    /// The label of the keychain whose own password is asked for instead of the passcode; nil if the passcode is.
    var keychain: String?

    /// How many characters of the program's own words are shown.
    private static let reasonLimit = 300

    /// For the system's own dialog, which shows no other words of ours.
    var message: String {
        [headline + ".", "Requested by \(caller).", reason].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The words of a dialog of ours.
    func words(windowID: String) -> EvaluationWords {
        var words = EvaluationWords(
            message: headline,
            reason: [subject, reason].filter { !$0.isEmpty }.joined(separator: "\n"),
            caller: caller.description,
            callerEvidence: caller.evidence.explanation,
            cancelLabel: settings.cancelTitle,
            fallbackLabel: fallbackLabel,
            windowID: windowID
        )
        if let keychain { words.passcodeName = "the password of the keychain “\(PromptText.name(keychain))”" }
        return words
    }

    private var headline: String {
        switch labels.count {
        case 0: "Confirm that it is you"
        case 1: "Authenticate to use \(ItemNames.list(labels))"
        default: "Authenticate to use \(labels.count) items"
        }
    }

    private var subject: String {
        labels.count > 1 ? "The items are \(ItemNames.list(labels))." : ""
    }

    /// In quotation marks, as these are the program's words and not ours.
    private var reason: String {
        if settings.reason.isEmpty { return "" }
        return "It says: “\(PromptText.name(settings.reason, limit: AuthenticationPurpose.reasonLimit))”"
    }

    /// For an item there is no other way than what its policy says; a program that asks who is there may have one of its own.
    private var fallbackLabel: String? {
        if settings.hidesFallback || (settings.fallbackTitle.isEmpty && !labels.isEmpty) { return "" }
        return settings.fallbackTitle.isEmpty ? nil : settings.fallbackTitle
    }
}
