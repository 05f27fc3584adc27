import KeychaindDesktop
import KeychaindLanguage

/// A request as commands for a pinentry.
struct PinentryQuestion {
    private static let repeatPrompt = Text("Repeat:")
    /// Limits in bytes within one line.
    private static let messageShare = 600
    private static let detailsShare = 320
    /// Room for the command, and for the sign of a cut.
    private static let reservedBytes = 16
    static let mismatch = Text("The two passwords are not the same.")

    /// Commands before the question; a pinentry may reject any of them.
    let settings: [AssuanCommand]
    let command: AssuanCommand

    /// - Parameters:
    ///   - layout: how the pinentry shows texts.
    ///   - isRepetition: whether to ask for the same new password again.
    ///   - warning: the reason for asking again; by default the request's own.
    ///   - timeout: the pinentry's own limit in seconds.
    init(
        _ request: PromptRequest,
        layout: PinentryLayout = PinentryLayout(),
        isRepetition: Bool = false,
        warning: String? = nil,
        timeout: Int64
    ) {
        var settings = [
            // Clears the settings of the last question.
            AssuanCommand("RESET"),
            AssuanCommand("SETTIMEOUT", String(timeout)),
        ]
        func add(_ name: StaticString, _ text: String) {
            // An empty text changes an open dialog, too.
            guard !text.isEmpty || layout.isOwn else { return }
            settings.append(AssuanCommand(name, PromptText.withoutTags(layout.shown(text))))
        }
        let labels = PinentryQuestion.labels(of: request)
        if layout.isOwn {
            let choice = request.choice?.explanation ?? ""
            // The direction of the window is that of the texts, whatever the language of the session.
            add("OPTION", "lc-messages=\(request.language.name)")
            add("SETHEADLINE", request.message)
            add("SETDESC", [request.description, choice].filter { !$0.isEmpty }.joined(separator: "\n\n"))
            add("SETDETAILSLABEL", request.string(Text("Who is asking?")))
            add("SETDETAILS", request.callerDetails)
            add("SETCHOICE", PinentryQuestion.label(request.choice?.label ?? ""))
            add("SETREADER", request.touch.rawValue)
            add("SETERROR", warning ?? request.mistake)
            add("SETWAIT", request.countdown)
            add("SETDELAY", String(request.delay.wholeSeconds))
        } else {
            add("SETDESC", PinentryQuestion.text(of: request, layout))
            add("SETNOTOK", PinentryQuestion.label(labels.notOK))
            add("SETERROR", warning ?? request.warning)
        }
        add("SETTITLE", request.title)
        add("SETOK", PinentryQuestion.label(labels.ok))
        add("SETCANCEL", PinentryQuestion.label(labels.cancel))
        switch request.question {
        case .newPassword where isRepetition: add("SETPROMPT", request.string(PinentryQuestion.repeatPrompt))
        case .password: add("SETPROMPT", request.string(Text("Password:")))
        case .newPassword: add("SETPROMPT", request.string(Text("New password:")))
        case .confirmation, .waiting: break
        }
        if request.question == .newPassword, !isRepetition {
            add("SETREPEAT", request.string(PinentryQuestion.repeatPrompt))
            add("SETREPEATERROR", request.string(PinentryQuestion.mismatch))
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
        case .confirmation: (request.continueLabel, request.choice?.label ?? "", request.cancelLabel)
        case .waiting where request.fallbackLabel.isEmpty:
            (request.cancelLabel.isEmpty ? request.string(Text("Cancel")) : request.cancelLabel, "", "")
        case .waiting: (request.fallbackLabel, "", request.cancelLabel)
        }
    }

    /// The description in one line.
    ///
    /// Message and details have fixed shares of it, so that a long explanation cannot hide who asks.
    private static func text(of request: PromptRequest, _ layout: PinentryLayout) -> String {
        let message = layout.wrap(PromptText.prefix(of: request.message, bytes: messageShare))
        let details = layout.wrap(PromptText.prefix(of: request.markedDetails, bytes: detailsShare))
        let others = [message, "", details].joined(separator: "\n\n").shownBytes
        // Only a confirmation has a third button.
        let choice = request.question == .confirmation ? request.choice?.explanation ?? "" : ""
        let story = [request.description, choice].filter { !$0.isEmpty }.joined(separator: "\n\n")
        let description = cut(layout.wrap(story), to: AssuanCommand.lineLimit - reservedBytes - others)
        return [message, description, details].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The longest prefix that fits; empty if hardly anything would be left.
    private static func cut(_ text: String, to room: Int) -> String {
        room < min(20, text.shownBytes) ? "" : PromptText.prefix(of: text, bytes: room)
    }

    /// Doubles underscores, which mark access keys in labels.
    private static func label(_ text: String) -> String {
        text.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__")
    }
}
