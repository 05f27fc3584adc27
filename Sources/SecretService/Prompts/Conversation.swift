import Authentication
import DBus
import Logging

/// The talk with a person that one prompt needs: a dialog that opens with the first question, and ends with the prompt.
@BusActor
final class Conversation {
    private enum State {
        case silent
        /// The prompter was asked for a dialog, and has not opened it yet.
        case opening(CheckedContinuation<Opening, Never>)
        case open(any PromptDialog)
        case ended
    }

    /// What came of asking the prompter for a dialog.
    private enum Opening: Sendable {
        case opened(any PromptDialog)
        case failed(PromptError)
        case ended
    }

    private let prompter: any Prompter
    /// The window to show dialogs above, as the client spells it; may be empty (#116).
    let windowID: String
    private let logger: Logger
    private var state = State.silent
    private var endWaiters: [Waiter] = []

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

    /// Closes the dialog if one is open; a question that waits, and every further one, is dismissed.
    func end() {
        let ended = state
        state = .ended
        for waiter in endWaiters {
            waiter.finish()
        }
        endWaiters.removeAll()
        switch ended {
        case .opening(let continuation): continuation.resume(returning: .ended)
        case .open(let dialog): dialog.close()
        case .silent, .ended: break
        }
    }

    /// Whether it is over, and nothing more will be asked.
    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Finishes the waiter when this is over, unless something else has.
    func finishAtEnd(_ waiter: Waiter) {
        if isEnded { return waiter.finish() }
        endWaiters.append(waiter)
    }

    private func openDialog() async throws(PromptError) -> (any PromptDialog)? {
        switch state {
        case .open(let dialog): return dialog
        case .opening, .ended: return nil
        case .silent: break
        }
        let opening = await withCheckedContinuation { continuation in
            state = .opening(continuation)
            // In a task of its own: a prompter may take long to start, and an end from outside does not wait for it.
            BusActor.start { [self] in receive(await open()) }
        }
        switch opening {
        case .opened(let dialog): return dialog
        case .failed(let error): throw error
        case .ended: return nil
        }
    }

    private func open() async -> Opening {
        do throws(PromptError) {
            return .opened(try await prompter.open())
        } catch {
            return .failed(error)
        }
    }

    private func receive(_ opening: Opening) {
        switch (state, opening) {
        case (.opening(let continuation), .opened(let dialog)):
            state = .open(dialog)
            continuation.resume(returning: opening)
        case (.opening(let continuation), _):
            state = .silent
            continuation.resume(returning: opening)
        case (_, .opened(let dialog)):
            dialog.close()
        case (_, _):
            break
        }
    }
}
