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
            "description": request.description,
            "warning": request.warning,
            // No box to tick.
            "choice-label": "",
            "caller-window": request.windowID,
            "continue-label": request.continueLabel,
            "cancel-label": request.cancelLabel,
        ]
        isNewPassword = request.question == .newPassword
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

    private func write(_ name: String, _ value: some BusValue, to writer: inout Writer) {
        writer.writeEntry { writer in
            name.write(to: &writer)
            Variant.write(value, to: &writer)
        }
    }
}
