import DBus

/// A request as the properties of a GCR prompt, an `a{sv}`.
struct GCRProperties {
    private let texts: KeyValuePairs<String, String>
    private let isNewPassword: Bool

    /// Translates a request.
    init(_ request: PromptRequest) {
        texts = [
            "title": request.title,
            "message": request.message,
            "description": request.story,
            "warning": request.warning,
            // No box to tick.
            "choice-label": "",
            "caller-window": request.windowID,
            "continue-label": GCRProperties.continueLabel(request),
            "cancel-label": request.cancelLabel,
        ]
        isNewPassword = request.question == .newPassword
    }

    /// What the prompter calls that kind of question.
    static func kind(of question: PromptRequest.Question) -> String {
        switch question {
        case .password, .newPassword: "password"
        case .confirmation, .waiting: "confirm"
        }
    }

    /// Appends the dictionary; an empty label is left out, so that the prompter uses its own.
    func write(to writer: inout Writer) {
        writer.writeArray(of: "{sv}") { writer in
            for (name, text) in texts where !(text.isEmpty && (name == "continue-label" || name == "cancel-label")) {
                write(name, text, to: &writer)
            }
            write("password-new", isNewPassword, to: &writer)
        }
    }

    /// The text of the first button; while something else is waited for, that one is for the fallback, or, since it cannot be hidden,
    /// for nothing.
    private static func continueLabel(_ request: PromptRequest) -> String {
        guard request.question == .waiting else { return request.continueLabel }
        return request.fallbackLabel.isEmpty ? "Waiting…" : request.fallbackLabel
    }

    private func write(_ name: String, _ value: some BusValue, to writer: inout Writer) {
        writer.writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }
}
