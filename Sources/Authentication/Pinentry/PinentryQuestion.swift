import Desktop

/// A request as the commands of a pinentry.
struct PinentryQuestion {
    /// What is put in front of a field that has the password entered again.
    private static let repeatPrompt = "Repeat:"
    /// How many bytes of a line the message may have, and who asks.
    private static let messageShare = 700
    private static let originShare = 240
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
        let warning = warning ?? request.warning
        var settings = [
            // Nothing stays from the question before.
            AssuanCommand("RESET"),
            AssuanCommand("SETTIMEOUT", String(timeout)),
            AssuanCommand("SETDESC", PromptText.withoutTags(PinentryQuestion.text(of: request))),
        ]
        func add(_ name: StaticString, _ text: String) {
            guard !text.isEmpty else { return }
            settings.append(AssuanCommand(name, PromptText.withoutTags(text)))
        }
        add("SETTITLE", request.title)
        add("SETERROR", warning)
        let labels = PinentryQuestion.labels(of: request)
        add("SETOK", PinentryQuestion.label(labels.ok))
        add("SETNOTOK", PinentryQuestion.label(labels.notOK))
        add("SETCANCEL", PinentryQuestion.label(labels.cancel))
        switch request.question {
        case .password:
            add("SETPROMPT", "Password:")
        case .newPassword where isRepetition:
            add("SETPROMPT", PinentryQuestion.repeatPrompt)
        case .newPassword:
            add("SETPROMPT", "New password:")
            add("SETREPEAT", PinentryQuestion.repeatPrompt)
            add("SETREPEATERROR", PinentryQuestion.mismatch)
        case .confirmation, .waiting:
            break
        }
        self.settings = settings
        command =
            switch request.question {
            case .password, .newPassword: AssuanCommand("GETPIN")
            case .waiting where request.fallbackLabel.isEmpty: AssuanCommand("CONFIRM", "--one-button")
            case .confirmation, .waiting: AssuanCommand("CONFIRM")
            }
    }

    /// What the two or three buttons say.
    ///
    /// The one button of a dialog in which there is nothing to do but cancel is what the pinentry calls its OK.
    private static func labels(of request: PromptRequest) -> (ok: String, notOK: String, cancel: String) {
        switch request.question {
        case .password, .newPassword: (request.continueLabel, "", request.cancelLabel)
        case .confirmation: (request.continueLabel, request.fallbackLabel, request.cancelLabel)
        case .waiting where request.fallbackLabel.isEmpty:
            (request.cancelLabel.isEmpty ? "Cancel" : request.cancelLabel, "", "")
        case .waiting: (request.fallbackLabel, "", request.cancelLabel)
        }
    }

    /// All that fits into one line of the protocol: the message and who asks have their share, the rest of the story
    /// what remains.
    private static func text(of request: PromptRequest) -> String {
        [
            PromptText.prefix(of: request.message, bytes: messageShare),
            PromptText.prefix(of: request.origin, bytes: originShare), request.description,
        ]
        .filter { !$0.isEmpty }
        .joined(separator: "\n\n")
    }

    /// In a label, an underscore marks the letter that is its key, and two are one.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
