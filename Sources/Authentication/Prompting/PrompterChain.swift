package import DBus
package import Logging

/// Several prompters as one: each dialog is opened by the first that can show one at that moment and is trusted; if none is trusted, by
/// the first that can.
@BusActor
package final class PrompterChain: Prompter {
    private let prompters: [any Prompter]
    private let logger: Logger
    private var hasWarned = false

    /// Creates a chain.
    ///
    /// - Parameter prompters: in the order in which they are tried.
    package init(_ prompters: [any Prompter], logger: Logger) {
        self.prompters = prompters
        self.logger = logger
    }

    /// The names of all.
    package var name: String { prompters.map(\.name).joined(separator: ", ") }

    /// Whether one of them is available.
    package func isAvailable(for caller: String) async -> Bool {
        for prompter in prompters where await prompter.isAvailable(for: caller) {
            return true
        }
        return false
    }

    /// Opens a dialog with the first prompter that can.
    ///
    /// Throws ``PromptError/Code/unavailable`` when none is there, and says in the log what a person can do about it: once, until a
    /// dialog could be opened again. When one is there but fails, and no other can, it throws what that one has thrown.
    package func open(
        for caller: String,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        var failure = PromptError(.unavailable, reason: "no prompter is available")
        var untrusted: (any PromptDialog)?
        for prompter in prompters {
            do throws(PromptError) {
                let dialog = try await prompter.open(for: caller, asking: question)
                hasWarned = false
                if await dialog.trust() == .trusted {
                    untrusted?.close()
                    return dialog
                }
                if untrusted == nil { untrusted = dialog } else { dialog.close() }
            } catch {
                logger.debug(
                    "a prompter cannot be used",
                    metadata: ["prompter": "\(prompter.name)", "error": "\(error)"]
                )
                if failure.code == .unavailable {
                    failure = error
                }
            }
        }
        if let untrusted { return untrusted }
        warnOnce(of: failure)
        throw failure
    }

    private func warnOnce(of failure: PromptError) {
        guard !hasWarned else { return }
        hasWarned = true
        logger.warning(
            """
            nobody can be asked for a password, so what is locked stays locked: install a prompter (the package gcr has one, a \
            pinentry with windows is another), see that the bus knows DISPLAY or WAYLAND_DISPLAY \
            (dbus-update-activation-environment --systemd DISPLAY WAYLAND_DISPLAY), or unlock at the start with \
            keychaind --unlock
            """,
            metadata: ["prompters": "\(name)", "reason": "\(failure.reason)"]
        )
    }
}
