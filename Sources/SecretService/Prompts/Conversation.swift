import Authentication
import DBus
import Logging

/// The talk with a person that one prompt needs: a dialog that opens with the first question, and ends with the prompt.
@BusActor
final class Conversation {
    private enum State {
        case silent
        case open(any PromptDialog)
        case ended
    }

    private let prompter: any Prompter
    /// The window to show dialogs above, as the client spells it; may be empty (#116).
    let windowID: String
    private let logger: Logger
    private var state = State.silent

    init(prompter: any Prompter, windowID: String, logger: Logger) {
        self.prompter = prompter
        self.windowID = windowID
        self.logger = logger
    }

    /// Asks one question.
    ///
    /// Whatever keeps it from being answered – no prompter, one that crashes or stays silent, an end from outside – is as if the
    /// person had dismissed it; the log says which.
    func ask(_ request: PromptRequest) async -> PromptAnswer {
        do throws(PromptError) {
            guard let dialog = try await openDialog() else { return .dismissed }
            return try await dialog.ask(request)
        } catch {
            logger.warning("A prompt could not be answered", metadata: ["reason": "\(error)"])
            return .dismissed
        }
    }

    /// Closes the dialog if one is open; further questions are dismissed.
    func end() {
        if case .open(let dialog) = state {
            dialog.close()
        }
        state = .ended
    }

    private func openDialog() async throws(PromptError) -> (any PromptDialog)? {
        switch state {
        case .ended: return nil
        case .open(let dialog): return dialog
        case .silent: break
        }
        let dialog = try await prompter.open()
        // It may have been ended while the dialog was waiting for its turn.
        if case .ended = state {
            dialog.close()
            return nil
        }
        state = .open(dialog)
        return dialog
    }
}
