package import DBus
package import Logging

/// A chain of prompters: the first trusted one that is available opens the dialog, or if none is trusted, the first
/// available one.
@BusActor
package final class PrompterChain: Prompter {
    private let prompters: [any Prompter]
    private let logger: Logger
    private var hasWarned = false

    /// Creates a chain.
    ///
    /// - Parameter prompters: in order of preference.
    package init(_ prompters: [any Prompter], logger: Logger) {
        self.prompters = prompters
        self.logger = logger
    }

    /// The names of all.
    package var name: String { prompters.map(\.name).joined(separator: ", ") }

    /// Whether one of them is available.
    package func isAvailable(for requester: any Requester) async -> Bool {
        for prompter in prompters where await prompter.isAvailable(for: requester) {
            return true
        }
        return false
    }

    /// Opens a dialog with the first prompter that can.
    ///
    /// Throws ``PromptError/Code/unavailable`` if there is no prompter, and logs once what to do about it. If one is
    /// there but fails, and no other can open a dialog, throws the error of that one.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        var failure = PromptError(.unavailable, reason: "no prompter is available")
        var untrusted: (any PromptDialog)?
        for prompter in prompters {
            do throws(PromptError) {
                let dialog = try await prompter.open(for: requester, asking: question)
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

/// The name of a prompter in the setting for their order.
package enum PrompterName: String, CaseIterable, Sendable {
    /// The prompter of KDE, on its desktop.
    case kde
    /// The system prompter of GCR, on GNOME and similar desktops.
    case gcr
    /// A pinentry with windows.
    case pinentry
    /// A pinentry on the terminal of the caller.
    case tty
    /// Ends the order.
    case none

    /// The default order: windows first, where there is a desktop.
    package static let standard: [PrompterName] = [.kde, .gcr, .pinentry, .tty]

    /// Parses comma-separated names; nil if one is unknown or repeated, or there is none.
    ///
    /// The order ends before ``none``. With an empty order, no person is asked.
    package static func order(_ text: some StringProtocol) -> [PrompterName]? {
        var order: [PrompterName] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let name = PrompterName(rawValue: String(word)), !order.contains(name) else { return nil }
            order.append(name)
        }
        return Array(order.prefix { $0 != .none })
    }
}
