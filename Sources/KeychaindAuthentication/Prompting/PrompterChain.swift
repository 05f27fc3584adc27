package import KeychaindDBus
package import Logging

/// A chain of prompters: the first available trusted one opens the dialog, or else the first available one.
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

    package var name: String { prompters.map(\.name).joined(separator: ", ") }

    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        var first: PrompterTrust?
        for prompter in prompters {
            let trust = await prompter.expectedTrust(for: requester)
            if trust == .trusted { return trust }
            first = first ?? trust
        }
        return first
    }

    /// Opens a dialog with the first prompter that can.
    ///
    /// Throws ``PromptError/Code/unavailable`` if there is no prompter, and logs the remedy once. If no dialog opens,
    /// throws the error of a prompter that failed.
    package func open(
        for requester: any Requester,
        asking question: PromptRequest.Question
    ) async throws(PromptError) -> any PromptDialog {
        var failure = PromptError(.unavailable, reason: "no prompter is available")
        var others: [any Prompter] = []
        // A dialog that is not trusted is not held open meanwhile: the next program may wait for its own turn there.
        for prompter in prompters {
            guard await prompter.expectedTrust(for: requester) == .trusted else {
                others.append(prompter)
                continue
            }
            guard let dialog = await open(prompter, for: requester, asking: question, &failure) else { continue }
            if await dialog.trust() == .trusted { return dialog }
            dialog.close()
            others.append(prompter)
        }
        for prompter in others {
            if let dialog = await open(prompter, for: requester, asking: question, &failure) { return dialog }
        }
        warnOnce(of: failure)
        throw failure
    }

    /// Nil if the prompter cannot be used; the first failure of one that is not missing counts.
    private func open(
        _ prompter: any Prompter,
        for requester: any Requester,
        asking question: PromptRequest.Question,
        _ failure: inout PromptError
    ) async -> (any PromptDialog)? {
        do throws(PromptError) {
            let dialog = try await prompter.open(for: requester, asking: question)
            hasWarned = false
            return dialog
        } catch {
            logger.debug("a prompter cannot be used", metadata: ["prompter": "\(prompter.name)", "error": "\(error)"])
            if failure.code == .unavailable { failure = error }
            return nil
        }
    }

    private func warnOnce(of failure: PromptError) {
        guard !hasWarned else { return }
        hasWarned = true
        logger.warning(
            """
            nobody can be asked for a password, so what is locked stays locked: install a prompter (the package gcr \
            has one, a pinentry with windows is another), see that the bus knows DISPLAY or WAYLAND_DISPLAY \
            (dbus-update-activation-environment --systemd DISPLAY WAYLAND_DISPLAY), or unlock at the start with \
            keychaind --unlock
            """,
            metadata: ["prompters": "\(name)", "reason": "\(failure.reason)"]
        )
    }
}

/// A prompter's name in the setting of their order.
package enum PrompterName: String, CaseIterable, Sendable {
    /// The KDE prompter, on its desktop.
    case kde
    /// The GCR system prompter, on GNOME and similar desktops.
    case gcr
    /// A graphical pinentry.
    case pinentry
    /// A pinentry on the caller's terminal.
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
