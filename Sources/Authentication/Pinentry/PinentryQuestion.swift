/// A request as the commands of a pinentry.
struct PinentryQuestion {
    /// What is put in front of a field that has the password entered again.
    private static let repeatPrompt = "Repeat:"
    static let mismatch = "The two passwords are not the same."

    /// What is set before the question; of these, the pinentry may know or not know any.
    let settings: [AssuanCommand]
    /// What asks.
    let command: AssuanCommand

    /// Translates a request.
    ///
    /// - Parameters:
    ///   - isRepetition: whether the answer is to be a password that was already entered once.
    ///   - warning: what went wrong the last time; the request's own without it.
    ///   - timeout: after how many seconds the pinentry gives up.
    init(_ request: PromptRequest, isRepetition: Bool = false, warning: String? = nil, timeout: Int64) {
        let texts = [request.message, request.description].filter { !$0.isEmpty }
        let warning = warning ?? request.warning
        var settings = [
            // Nothing stays from the question before.
            AssuanCommand("RESET"),
            AssuanCommand("SETTIMEOUT", String(timeout)),
            AssuanCommand("SETDESC", PromptText.withoutTags(texts.joined(separator: "\n\n"))),
        ]
        func add(_ name: StaticString, _ text: String) {
            guard !text.isEmpty else { return }
            settings.append(AssuanCommand(name, PromptText.withoutTags(text)))
        }
        add("SETTITLE", request.title)
        add("SETERROR", warning)
        add("SETOK", PinentryQuestion.label(request.continueLabel))
        add("SETCANCEL", PinentryQuestion.label(request.cancelLabel))
        switch request.question {
        case .password:
            add("SETPROMPT", "Password:")
        case .newPassword where isRepetition:
            add("SETPROMPT", PinentryQuestion.repeatPrompt)
        case .newPassword:
            add("SETPROMPT", "New password:")
            add("SETREPEAT", PinentryQuestion.repeatPrompt)
            add("SETREPEATERROR", PinentryQuestion.mismatch)
        case .confirmation:
            break
        }
        self.settings = settings
        command = AssuanCommand(request.question == .confirmation ? "CONFIRM" : "GETPIN")
    }

    /// In a label, an underscore marks the letter that is its key, and two are one.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
