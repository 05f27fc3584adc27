import KeychaindDesktop

/// A request as commands for a pinentry.
struct PinentryQuestion {
    private static let repeatPrompt = "Repeat:"
    /// Limits in bytes within one line.
    private static let messageShare = 700
    private static let originShare = 240
    static let mismatch = "The two passwords are not the same."

    /// Commands before the question; a pinentry may reject any of them.
    let settings: [AssuanCommand]
    let command: AssuanCommand

    /// - Parameters:
    ///   - isRepetition: whether to ask for the same new password again.
    ///   - warning: the reason for asking again; by default the request's own.
    ///   - timeout: the pinentry's own limit in seconds.
    init(_ request: PromptRequest, isRepetition: Bool = false, warning: String? = nil, timeout: Int64) {
        let warning = warning ?? request.warning
        var settings = [
            // Clears the settings of the last question.
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

    /// The button labels; a dialog that can only be cancelled has one, the pinentry's OK.
    private static func labels(of request: PromptRequest) -> (ok: String, notOK: String, cancel: String) {
        switch request.question {
        case .password, .newPassword: (request.continueLabel, "", request.cancelLabel)
        case .confirmation: (request.continueLabel, request.fallbackLabel, request.cancelLabel)
        case .waiting where request.fallbackLabel.isEmpty:
            (request.cancelLabel.isEmpty ? "Cancel" : request.cancelLabel, "", "")
        case .waiting: (request.fallbackLabel, "", request.cancelLabel)
        }
    }

    /// The description in one line; message and origin have fixed shares of it.
    private static func text(of request: PromptRequest) -> String {
        [
            PromptText.prefix(of: request.message, bytes: messageShare),
            PromptText.prefix(of: request.origin, bytes: originShare), request.description,
        ]
        .filter { !$0.isEmpty }
        .joined(separator: "\n\n")
    }

    /// Doubles underscores, which mark access keys in labels.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
