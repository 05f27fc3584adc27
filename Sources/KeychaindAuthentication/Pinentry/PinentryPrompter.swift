package import KeychaindDBus
import KeychaindDesktop

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
    private let displays: ScreenDisplays?

    /// - Parameters:
    ///   - programs: paths, or names to look up in `PATH`; the first that asks in windows is used, and of these one of
    ///     the system's before the user's own.
    ///   - displays: finds the screen; nil asks wherever the environment says.
    package init(
        launcher: PinentryLauncher,
        programs: [String] = PinentryPrompter.programs,
        environment: SessionEnvironment,
        displays: ScreenDisplays? = nil
    ) {
        self.launcher = launcher
        self.programs = programs
        self.environment = environment
        self.displays = displays
    }

    /// Nil without a display, or a program that may have windows.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        let variables = await environment.variables()
        guard let surface = await surface(variables),
            let candidate = candidates(in: variables).first(where: { surface.refusal(ofProgramAt: $0) == nil })
        else { return nil }
        return launcher.expectedTrust(inProgramAt: candidate, on: surface)
    }

    /// Throws ``PromptError/Code/unavailable`` if no pinentry has windows.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        let variables = await environment.variables()
        guard let surface = await surface(variables) else {
            throw PromptError(.unavailable, reason: "the session has no display")
        }
        var failure = PromptError(.unavailable, reason: "no pinentry is installed")
        for candidate in candidates(in: variables) {
            do throws(PromptError) {
                return try await launcher.launch(candidate, on: surface)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func surface(_ variables: [String: String]) async -> PinentrySurface? {
        let names = ["WAYLAND_DISPLAY", "DISPLAY"].compactMap { variables[$0] }
        if let display = await displays?.find(preferring: names) { return .screen(display, variables) }
        return SessionEnvironment.hasDisplay(variables) ? .windows(variables) : nil
    }

    /// Each program once; the system's first, since a dialog of the user's own takes no touch.
    private func candidates(in variables: [String: String]) -> [String] {
        var protection = FileProtection()
        var files: Set<String> = []
        let all = programs.flatMap { ProgramSearch.find($0, in: variables["PATH"]) }
            .filter { files.insert(PinentrySurface.file(behind: $0)).inserted }
        let systems = all.filter { protection.protects(PinentrySurface.file(behind: $0)) }
        return systems + all.filter { !systems.contains($0) }
    }
}
