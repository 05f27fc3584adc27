import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage

/// The dialogs in which a person only says yes or no.
extension Conversation {
    /// Asks a person to confirm the deletion of a keychain and its items.
    func confirmDeletion(of label: String, for caller: Caller, protectedItems: Int) async -> Bool {
        let label = PromptText.name(label)
        var explanation = [Text("The keychain “\(label)” cannot be brought back.")]
        if protectedItems > 0 {
            explanation.append(
                Text(
                    protectedItems,
                    one: "\(protectedItems) of its items is protected and will be lost, too.",
                    other: "\(protectedItems) of its items are protected and will be lost, too."
                )
            )
        }
        return await confirm(
            title: Text("Delete Keychain"),
            Text("Delete the keychain “\(label)”?"),
            explanation,
            button: Text("Delete"),
            for: caller
        )
    }

    /// Asks a person to confirm the deletion of a keychain whose file is missing.
    func confirmForgetting(_ label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        return await confirm(
            title: Text("Delete Keychain"),
            Text("Delete the keychain “\(label)”?"),
            [Text("Its file is missing. Its past states are kept: one of them can be restored instead.")],
            button: Text("Delete"),
            for: caller
        )
    }

    /// Asks a person to take what is intact out of a damaged keychain.
    func confirmSalvage(of label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        return await confirm(
            title: Text("Repair Keychain"),
            Text("Make a new file from what is intact in the keychain “\(label)”?"),
            [Text("The damaged file is kept beside the new one.")],
            button: Text("Repair"),
            for: caller
        )
    }

    /// Asks a person to limit a sandboxed program to its own items.
    ///
    /// - Parameter items: the labels of those that it gets.
    func confirmSandbox(_ program: String, items: [String], for caller: Caller) async -> Bool {
        let name = PromptText.name(String(program.drop { $0 != ":" }.dropFirst()))
        var explanation = [Text("It will see what it stores, and nothing else of your keychains.")]
        if !items.isEmpty {
            // Translators: the labels of items
            explanation.append(Text("It keeps: \(ItemNames.summary(items))"))
        }
        return await confirm(
            title: Text("Limit Application"),
            Text("Limit “\(name)” to its own items?"),
            explanation,
            button: Text("Limit"),
            for: caller
        )
    }

    /// Shows a recovery key, once; false unless the person confirms that it was written down.
    ///
    /// The key becomes a text in ordinary memory, and on the bus if the prompter is there. The caller has chosen that.
    func showRecoveryKey(_ key: borrowing SecureBytes, of label: String, for caller: Caller) async -> Bool {
        let label = PromptText.name(label)
        let text = key.withUnsafeBytes { bytes in String(decoding: bytes, as: UTF8.self) }
        let explanation = Text(
            """
            This is the recovery key of the keychain “\(label)”. Write it down, and keep it where only you have \
            access. It opens the keychain when you have forgotten the password: type it instead. It is shown only \
            this once.
            """
        )
        return await confirm(
            title: Text("Recovery Key"),
            Text(verbatim: text),
            [explanation],
            button: Text("I Have Written It Down"),
            for: caller
        )
    }

    /// Asks a question; an introduction of the caller comes before the explanation.
    private func confirm(
        title: Text,
        _ question: Text,
        _ explanation: [Text],
        button: Text,
        for caller: Caller
    ) async -> Bool {
        let request = request(
            .confirmation,
            title: title,
            question,
            [caller.introduction] + explanation,
            button: button,
            for: caller
        )
        guard let answer = try? await ask(request), case .confirmed = consume answer else { return false }
        return true
    }
}
