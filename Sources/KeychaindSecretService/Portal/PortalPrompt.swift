import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// Replaces the portal secret of an application after a person has authenticated; the result is whether it was.
@BusActor
final class PortalPrompt: PromptAction {
    private let application: String
    /// Taken once.
    private var new: PortalImport?
    private let provider: Provider

    init(_ new: consuming PortalImport, provider: Provider) {
        application = new.application
        self.new = consume new
        self.provider = provider
    }

    var emptyResult: Variant { .boolean(false) }

    var keptBytes: Int { PortalSecrets.applicationLimit + Collection.applicationSecretSize }

    func perform(asking conversation: Conversation, for client: Client) async -> PromptOutcome {
        let words = words(for: await client.caller(), windowID: conversation.windowID)
        guard await provider.authenticator.provesPresence(asking: conversation, words), !conversation.isEnded,
            let login = provider.vault.collection(named: .login), let new = new.take()
        else { return .dismissed(emptyResult) }
        do throws(BusError) {
            try client.checkUnconfined()
            try await provider.portalSecrets.replace(with: new, in: login, from: client)
            return .done(.boolean(true))
        } catch {
            provider.logger.error("A portal secret could not be replaced", metadata: ["reason": "\(error.message)"])
            return .dismissed(emptyResult)
        }
    }

    private func words(for caller: Caller, windowID: String) -> EvaluationWords {
        let program = caller.name.subject.cut(bytes: 160)
        let name =
            application.isEmpty
            ? Text("programs outside of a sandbox") : Text("the application “\(PromptText.name(application))”")
        // Translators: a program, then an application
        let headline = Text("\(program) wants to replace the portal secret of \(name)")
        let cost = Text("What was encrypted with the present secret can then not be read. keychaind keeps that secret.")
        var words = EvaluationWords(
            language: caller.language,
            message: headline,
            circumstances: .lines([cost, caller.circumstances]),
            caller: caller.fullName,
            callerDetails: caller.details,
            windowID: windowID
        )
        words.summary = .joined([Text("\(headline)."), cost])
        return words
    }
}
