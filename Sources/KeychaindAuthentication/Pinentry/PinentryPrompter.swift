package import KeychaindDBus

/// The `pinentry` of GnuPG in a flavour with windows, started for each dialog.
@BusActor
package final class PinentryPrompter: Prompter {
    /// The programs in order: the administrator's choice, which may have no windows, then all that may have.
    package nonisolated static let programs = [
        "pinentry", "pinentry-qt", "pinentry-gtk-2", "pinentry-qt5", "pinentry-gtk", "pinentry-fltk",
    ]

    package let name = "pinentry"

    private let launcher: PinentryLauncher
    private let programs: [String]
    private let environment: SessionEnvironment

    /// - Parameter programs: paths, or names to look up in `PATH`; the first that asks in windows is used.
    package init(
        launcher: PinentryLauncher,
        programs: [String] = PinentryPrompter.programs,
        environment: SessionEnvironment
    ) {
        self.launcher = launcher
        self.programs = programs
        self.environment = environment
    }

    /// Nil without a display, or a program that may have windows.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        let variables = await environment.variables()
        let surface = PinentrySurface.windows(variables)
        guard SessionEnvironment.hasDisplay(variables),
            programs.contains(where: { program in
                ProgramSearch.find(program, in: variables["PATH"]).map(surface.refusal(ofProgramAt:)) == .some(nil)
            })
        else { return nil }
        return launcher.expectedTrust(on: surface)
    }

    /// Throws ``PromptError/Code/unavailable`` if no pinentry has windows.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        let variables = await environment.variables()
        guard SessionEnvironment.hasDisplay(variables) else {
            throw PromptError(.unavailable, reason: "the session has no display")
        }
        var failure = PromptError(.unavailable, reason: "no pinentry is installed")
        var tried: Set<String> = []
        for program in programs {
            guard let path = ProgramSearch.find(program, in: variables["PATH"]) else { continue }
            guard tried.insert(PinentrySurface.file(behind: path)).inserted else { continue }
            do throws(PromptError) {
                return try await launcher.launch(path, on: .windows(variables))
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
