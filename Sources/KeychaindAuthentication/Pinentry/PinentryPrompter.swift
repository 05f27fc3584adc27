package import KeychaindDBus

/// The `pinentry` of GnuPG in a flavour with windows, started for each dialog.
@BusActor
package final class PinentryPrompter: Prompter {
    package let name = "pinentry"

    private let launcher: PinentryLauncher
    private let program: String
    private let environment: SessionEnvironment

    /// - Parameter program: a path, or a name to look up in `PATH`.
    package init(launcher: PinentryLauncher, program: String = "pinentry", environment: SessionEnvironment) {
        self.launcher = launcher
        self.program = program
        self.environment = environment
    }

    /// Whether there is a display and a program; its flavour is unknown until it starts.
    package func isAvailable(for requester: any Requester) async -> Bool {
        let variables = await environment.variables()
        return SessionEnvironment.hasDisplay(variables) && ProgramSearch.finds(program, in: variables["PATH"])
    }

    /// Throws ``PromptError/Code/unavailable`` if the pinentry has no windows.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        let variables = await environment.variables()
        guard SessionEnvironment.hasDisplay(variables) else {
            throw PromptError(.unavailable, reason: "the session has no display")
        }
        return try await launcher.launch(program, on: .windows(variables))
    }
}
