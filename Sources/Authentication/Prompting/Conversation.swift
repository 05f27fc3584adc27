package import DBus
import Logging

/// The talk with a person on behalf of one caller: it begins when it is its turn, and ends with ``end()``.
///
/// It has one dialog, or one after the other where a prompter cannot do in one what is wanted.
@BusActor
package final class Conversation {
    private enum State {
        case new
        /// It waits for its turn.
        case queued(PromptQueue.Ticket)
        /// It is its turn, and a prompter was asked for a dialog, as many times as the number says.
        case opening(PromptQueue.Ticket, number: Int, CheckedContinuation<Opening, Never>)
        /// It is its turn; a dialog may be there.
        case open(PromptQueue.Ticket, (any PromptDialog)?)
        case ended(Ending)
    }

    /// What came of asking a prompter for a dialog.
    private enum Opening: Sendable {
        case opened(any PromptDialog)
        case failed(PromptError)
        /// Nobody wants it any more.
        case withdrawn
    }

    /// What every further question is answered.
    private enum Ending {
        case cancelled
        case cancelledOutside(Cancellation)
        case failed(PromptError)
    }

    /// A question that somebody waits to have answered.
    private struct Asking {
        var request: PromptRequest
        let whenShown: @BusActor () -> Void
        /// Whether the dialog was closed for the question to be shown in other words.
        var isRevised = false
        var isWithdrawn = false
    }

    /// The unique name of the connection on whose behalf a person is asked.
    package nonisolated let caller: String
    /// The window to show dialogs above, as the client spells it; may be empty (#116).
    package nonisolated let windowID: String

    private let queue: PromptQueue
    private var state = State.new
    private var asking: Asking?
    private var openingCount = 0
    /// How far the dialog was trusted that has been asked last.
    package private(set) var trustOfAnswer = PrompterTrust.trusted
    private var onCancellation: (@BusActor (Cancellation) -> Void)?
    /// How many hold the turn, and what is to be given back when none does any more.
    private var holders = 0
    private var heldTicket: PromptQueue.Ticket?

    init(in queue: PromptQueue, caller: String, windowID: String) {
        self.queue = queue
        self.caller = caller
        self.windowID = windowID
    }

    isolated deinit {
        end()
    }

    /// Whether it is over, and nothing more will be asked.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// The reason why it was cancelled from outside; nil if it was not.
    package var cancellation: Cancellation? {
        if case .ended(.cancelledOutside(let cancellation)) = state { cancellation } else { nil }
    }

    /// Sets the handler of a cancellation from outside, and calls it immediately if there was one.
    package func whenCancelled(_ action: (@BusActor (Cancellation) -> Void)?) {
        onCancellation = action
        if let cancellation { action?(cancellation) }
    }

    /// Whether the caller can probably be asked now; nothing is started or shown to find out.
    func isAvailable() async -> Bool {
        await queue.isAvailable(for: caller)
    }

    // MARK: The turn

    /// Keeps the turn beyond the end, until it is released as often: something is on the screen that takes its time to go.
    package func holdTurn() {
        holders += 1
    }

    /// Ends a ``holdTurn()``.
    package func releaseTurn() {
        holders -= 1
        guard holders == 0, let ticket = heldTicket else { return }
        heldTicket = nil
        queue.leave(ticket)
    }

    private func giveBack(_ ticket: PromptQueue.Ticket) {
        if holders > 0 { heldTicket = ticket } else { queue.leave(ticket) }
    }

    // MARK: Asking

    /// Waits for its turn, as ``ask(_:)`` does by itself; false if it has ended or was withdrawn meanwhile.
    ///
    /// Throws ``PromptError/Code/tooMany`` if there is no room to wait.
    package func begin() async throws(PromptError) -> Bool {
        switch state {
        case .open, .opening: return true
        case .ended: return false
        case .queued: throw PromptError(.failed, reason: "the conversation waits for its turn already")
        case .new: break
        }
        let ticket = queue.makeTicket(for: caller)
        state = .queued(ticket)
        switch await queue.takeTurn(ticket) {
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

    /// Asks one question, and waits for the answer.
    ///
    /// What is cancelled or fails ends the conversation, which answers the same to every further question. Failures are logged here.
    ///
    /// What needs no knowledge is asked in trusted dialogs only: elsewhere it throws ``PromptError/Code/notTrusted``, and another question,
    /// for a password alone, may follow if a touch would have answered this one.
    ///
    /// - Parameter whenShown: called once a prompter has taken the question, and again if another dialog is opened for it.
    package func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void = {}
    ) async throws(PromptError) -> PromptAnswer {
        guard asking == nil else {
            throw PromptError(.failed, reason: "the conversation has a question already")
        }
        switch state {
        case .ended(.cancelled): return .cancelled
        case .ended(.cancelledOutside): return .withdrawn
        case .ended(.failed(let error)): throw error
        case .new, .queued, .opening, .open: break
        }
        asking = Asking(request: request, whenShown: whenShown)
        defer { asking = nil }
        do throws(PromptError) {
            return try await answer()
        } catch {
            queue.logger.warning("A prompt could not be answered", metadata: ["reason": "\(error)"])
            if error.code != .notTrusted || request.question == .confirmation { end(.failed(error)) }
            throw error
        }
    }

    /// Puts the question that waits in other words; without one, nothing happens.
    ///
    /// Where the prompter cannot change a dialog it is closed, and another opened. What was typed into it is lost.
    ///
    /// - Parameter keepingDialog: whether that is too much for it; the words then wait for the next dialog.
    /// - Returns: whether the dialog, if there is one, stays on the screen.
    @discardableResult
    package func revise(_ request: PromptRequest, keepingDialog: Bool = false) -> Bool {
        guard let old = asking, old.request != request else { return true }
        asking?.request = request
        guard case .open(let ticket, let dialog?) = state else { return true }
        // Trust is looked for before a question is put, so one that begins to need it is put anew.
        let isPutAnew = old.request.question != request.question || request.needsTrust && !old.request.needsTrust
        if !isPutAnew, dialog.revise(request) || keepingDialog { return true }
        asking?.isRevised = true
        state = .open(ticket, nil)
        dialog.close()
        return false
    }

    /// How far the dialog on the screen is trusted at this moment.
    package func trust() async -> PrompterTrust {
        guard case .open(_, let dialog?) = state else { return .passwordsOnly(reason: "there is no dialog") }
        return await dialog.trust()
    }

    /// Takes the question that waits back, and its dialog off the screen; the next question has a new dialog.
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

    /// Ends it: closes the dialog if one is open, and lets the next have its turn; a question that waits, and every further one, is
    /// answered ``PromptAnswer/withdrawn``.
    package func end(_ cancellation: Cancellation = .byProgram) {
        end(.cancelledOutside(cancellation))
    }

    private func end(_ ending: Ending) {
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
            giveBack(ticket)
        case .open(let ticket, let dialog):
            dialog?.close()
            giveBack(ticket)
        }
        if let cancellation { onCancellation?(cancellation) }
        onCancellation = nil
    }

    /// Asks until there is an answer to the question as it was last put.
    private func answer() async throws(PromptError) -> PromptAnswer {
        while true {
            guard try await begin(), let request = asking?.request else { return .withdrawn }
            asking?.isRevised = false
            guard !isWithdrawn, let dialog = try await openDialog(for: request.question) else { return .withdrawn }
            trustOfAnswer = await dialog.trust()
            if isEnded || isWithdrawn { return .withdrawn }
            // It may have been put in other words meanwhile, and its dialog been closed for that.
            let latest = asking?.request ?? request
            guard asking?.isRevised == false, dialog.canAsk(latest.question) else { continue }
            if latest.needsTrust { try Conversation.check(trustOfAnswer) }
            let answer = try await dialog.ask(latest) { [weak self] in self?.receiveShown() }
            if isEnded || isWithdrawn { return .withdrawn }
            switch consume answer {
            case .password(let password):
                return .password(password)
            case .confirmed:
                try await checkAgain(dialog)
                return isEnded || isWithdrawn ? .withdrawn : .confirmed
            case .fallback:
                try await checkAgain(dialog)
                return isEnded || isWithdrawn ? .withdrawn : .fallback
            case .cancelled:
                end(.cancelled)
                return .cancelled
            case .withdrawn:
                guard asking?.isRevised == true else { return .withdrawn }
            }
        }
    }

    /// Who shows the dialog may have changed since the question was put.
    private func checkAgain(_ dialog: any PromptDialog) async throws(PromptError) {
        trustOfAnswer = await dialog.trust()
        if !isEnded, !isWithdrawn { try Conversation.check(trustOfAnswer) }
    }

    private static func check(_ trust: PrompterTrust) throws(PromptError) {
        guard let objection = trust.objection else { return }
        throw PromptError(.notTrusted, reason: "the prompter is not trusted: \(objection)")
    }

    private func receiveShown() {
        asking?.whenShown()
    }

    private var isWithdrawn: Bool {
        asking?.isWithdrawn == true
    }

    // MARK: Opening

    /// The dialog, a new one if there is none that can ask such a question; nil if nobody wants it any more.
    private func openDialog(
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
            // It may have ended meanwhile: to suspend may let others run first.
            guard case .open(ticket, _) = state, !isWithdrawn else {
                return continuation.resume(returning: Opening.withdrawn)
            }
            state = .opening(ticket, number: number, continuation)
            // In a task of its own: a prompter may take long to start, and an end from outside does not wait for it.
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
            return .opened(try await queue.prompter.open(for: caller, asking: question))
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
