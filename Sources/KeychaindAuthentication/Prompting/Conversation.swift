package import KeychaindDBus

/// The questions of one caller to a person, from its turn in the queue to ``end(_:)``.
///
/// Uses several dialogs in sequence if the prompter cannot ask everything in one.
@BusActor
package final class Conversation {
    enum State {
        case new
        case queued(PromptQueue.Ticket)
        /// Has the turn, and waits for the dialog of that number.
        case opening(PromptQueue.Ticket, number: Int, CheckedContinuation<Opening, Never>)
        /// Has the turn, with or without a dialog.
        case open(PromptQueue.Ticket, (any PromptDialog)?)
        case ended(Ending)
    }

    enum Opening: Sendable {
        case opened(any PromptDialog)
        case failed(PromptError)
        case withdrawn
    }

    /// The answer to all further questions.
    enum Ending {
        case cancelled
        case cancelledOutside(Cancellation)
        case failed(PromptError)
    }

    private let requester: any Requester
    /// The parent window, as the client gave it; may be empty (#116).
    package nonisolated let windowID: String

    let queue: PromptQueue
    private(set) var state = State.new
    /// The question that waits for its answer.
    var asking: Asking?
    private var openingCount = 0
    /// The trust in the dialog that gave the last answer.
    package internal(set) var trustOfAnswer = PrompterTrust.trusted
    /// Whether the person took ``PromptRequest/choice`` with the last answer, in a trusted dialog.
    package internal(set) var hasChosen = false
    private var onCancellation: (@BusActor (Cancellation) -> Void)?

    init(in queue: PromptQueue, for requester: any Requester, windowID: String) {
        self.queue = queue
        self.requester = requester
        self.windowID = windowID
    }

    isolated deinit {
        end()
    }

    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Why the person could not be asked, if the conversation has ended by that.
    package var failure: PromptError? {
        if case .ended(.failed(let error)) = state { error } else { nil }
    }

    package var cancellation: Cancellation? {
        if case .ended(.cancelledOutside(let cancellation)) = state { cancellation } else { nil }
    }

    /// Sets the handler of a cancellation, and calls it at once if there was one.
    package func whenCancelled(_ action: (@BusActor (Cancellation) -> Void)?) {
        onCancellation = action
        if let cancellation { action?(cancellation) }
    }

    /// The trust that a dialog would probably have, without starting or showing anything; nil if none can.
    package func expectedTrust() async -> PrompterTrust? {
        await queue.expectedTrust(for: requester)
    }

    // MARK: The turn

    /// Waits for the turn, as ``ask(_:whenShown:)`` does; false if the conversation has ended.
    ///
    /// Throws ``PromptError/Code/tooMany`` if the queue is full.
    package func begin() async throws(PromptError) -> Bool {
        switch state {
        case .open, .opening: return true
        case .ended: return false
        case .queued: throw PromptError(.failed, reason: "the conversation waits for its turn already")
        case .new: break
        }
        let ticket = queue.makeTicket()
        state = .queued(ticket)
        switch await queue.takeTurn(ticket, for: requester) {
        case .given:
            guard case .queued(ticket) = state else { return false }
            state = .open(ticket, nil)
            return true
        case .refused:
            let error = PromptError(.tooMany, reason: "too many questions wait for an answer")
            end(.failed(error))
            throw error
        case .left:
            return false
        }
    }

    // MARK: The waiting question

    var isWithdrawn: Bool {
        asking?.isWithdrawn == true
    }

    /// Changes the texts of the waiting question.
    ///
    /// Closes the dialog and opens another if the prompter cannot change it; typed text is lost.
    ///
    /// - Parameter keepingDialog: keeps such a dialog, and uses the texts for the next one.
    /// - Returns: whether the dialog, if there is one, stays on the screen.
    @discardableResult
    package func revise(_ request: PromptRequest, keepingDialog: Bool = false) -> Bool {
        guard let old = asking, old.request != request else { return true }
        asking?.request = request
        guard case .open(let ticket, let dialog?) = state else { return true }
        // Trust is checked before a question is asked, so a question that newly needs it is asked again.
        let isPutAnew = old.request.question != request.question || request.needsTrust && !old.request.needsTrust
        if !isPutAnew, dialog.revise(request) || keepingDialog { return true }
        asking?.isRevised = true
        state = .open(ticket, nil)
        dialog.close()
        return false
    }

    /// The current trust in the dialog on the screen.
    package func trust() async -> PrompterTrust {
        guard case .open(_, let dialog?) = state else { return .passwordsOnly(reason: "there is no dialog") }
        return await dialog.trust()
    }

    /// Whether the dialog on the screen is what the person looks at.
    package var isActive: Bool {
        if case .open(_, let dialog?) = state { dialog.isActive } else { false }
    }

    /// Withdraws the waiting question and closes its dialog.
    package func withdraw() {
        guard asking != nil else { return }
        asking?.isWithdrawn = true
        switch state {
        case .queued(let ticket):
            state = .new
            queue.leave(ticket)
        case .opening(let ticket, _, let continuation):
            state = .open(ticket, nil)
            continuation.resume(returning: .withdrawn)
        case .open(let ticket, let dialog):
            state = .open(ticket, nil)
            dialog?.close()
        case .new, .ended:
            break
        }
    }

    // MARK: The end

    /// Ends the conversation: closes its dialog and passes the turn on.
    ///
    /// The waiting and all further questions are answered ``PromptAnswer/withdrawn``.
    package func end(_ cancellation: Cancellation = .byProgram) {
        end(.cancelledOutside(cancellation))
    }

    func end(_ ending: Ending) {
        let ended = state
        if case .ended = ended { return }
        state = .ended(ending)
        switch ended {
        case .new, .ended:
            break
        case .queued(let ticket):
            queue.leave(ticket)
        case .opening(let ticket, _, let continuation):
            continuation.resume(returning: .withdrawn)
            queue.leave(ticket)
        case .open(let ticket, let dialog):
            dialog?.close()
            queue.leave(ticket)
        }
        if let cancellation { onCancellation?(cancellation) }
        onCancellation = nil
    }

    // MARK: Opening

    /// The dialog, or a new one if it cannot ask such a question; nil if the question was withdrawn.
    func openDialog(
        for question: PromptRequest.Question
    ) async throws(PromptError) -> (any PromptDialog)? {
        guard case .open(let ticket, let dialog) = state else { return nil }
        if let dialog {
            if dialog.canAsk(question) { return dialog }
            state = .open(ticket, nil)
            dialog.close()
        }
        openingCount += 1
        let opening = await withCheckedContinuation { [number = openingCount] continuation in
            // The conversation may have ended before this closure runs.
            guard case .open(ticket, _) = state, !isWithdrawn else {
                return continuation.resume(returning: Opening.withdrawn)
            }
            state = .opening(ticket, number: number, continuation)
            // A separate task, so that a cancellation does not wait for a slow prompter.
            BusActor.start { [self] in receive(await open(for: question), number: number) }
        }
        switch opening {
        case .opened(let dialog): return dialog
        case .failed(let error): throw error
        case .withdrawn: return nil
        }
    }

    private func open(for question: PromptRequest.Question) async -> Opening {
        do throws(PromptError) {
            return .opened(try await queue.prompter.open(for: requester, asking: question))
        } catch {
            return .failed(error)
        }
    }

    private func receive(_ opening: Opening, number: Int) {
        switch (state, opening) {
        case (.opening(let ticket, number, let continuation), .opened(let dialog)):
            state = .open(ticket, dialog)
            continuation.resume(returning: opening)
        case (.opening(let ticket, number, let continuation), _):
            state = .open(ticket, nil)
            continuation.resume(returning: opening)
        case (_, .opened(let dialog)):
            dialog.close()
        case (_, _):
            break
        }
    }
}
