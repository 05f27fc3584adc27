package import KeychaindCommandLine
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage

/// The passwords of an import: given beforehand, or asked for at the terminal.
package struct ImportPasswords: Sendable {
    /// Tried first wherever a password is needed.
    package let given: Password?
    private let interruption: Int32

    package init(given: Password?, interruption: Interruption) {
        self.given = given
        self.interruption = interruption.descriptor
    }

    /// Asks at the terminal; nil without one, and if a password was given beforehand.
    func ask(_ question: Text) async throws(CommandFailure) -> Password? {
        guard given == nil else { return nil }
        return try await BlockingThread.run { [interruption] () -> Result<Password?, CommandFailure> in
            do throws(CommandFailure) {
                let typed = try PasswordInput.ask(Text("\(question): "), interruption: interruption)
                guard let typed else { return .success(nil) }
                return .success(Password(typed))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// What to say of something that stayed closed because no person can be asked; nil if a password was there.
    var cannotAsk: CommandFailure? {
        guard given == nil, !PasswordInput.hasTerminal else { return nil }
        return CommandFailure(.refused, "there is no terminal to ask for a password; use --password-fd")
    }

    /// Asks for a new password, twice, until both are equal and not empty; nil without a terminal.
    func askNew(_ question: Text) async throws(CommandFailure) -> Password? {
        while let first = try await ask(question) {
            guard !first.isEmpty else { continue }
            guard let second = try await ask(Text("The same again")) else { return nil }
            if first.bytes.isEqual(to: second.bytes) { return first }
        }
        return nil
    }
}
