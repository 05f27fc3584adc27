package import KeychaindDBus
package import Logging

/// The queue of conversations: one at a time has the screen, in fair turns between callers (see ``FairQueue``).
@BusActor
package final class PromptQueue {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let requester: String
    }

    enum Turn: Sendable {
        /// The ticket has the turn, until ``leave(_:)``.
        case given
        case refused
        /// The ticket was given back before its turn.
        case left
    }

    let prompter: any Prompter
    let logger: Logger

    private var waiting: FairQueue<String, Ticket>
    private var turns: [Ticket: Promise<Turn>] = [:]
    private var holder: Ticket?
    private var tickets: Set<Ticket> = []
    private var ticketCount: UInt64 = 0

    /// Creates an empty queue.
    ///
    /// - Parameter limit: the number of waiting conversations of all callers.
    package init(_ prompter: any Prompter, limit: Int = 1024, logger: Logger) {
        self.prompter = prompter
        self.logger = logger
        waiting = FairQueue(limit: limit)
    }

    /// Whether a person can probably be asked, without starting or showing anything.
    package func isAvailable(for requester: any Requester) async -> Bool {
        await prompter.isAvailable(for: requester)
    }

    /// Makes a conversation, which enters the queue with its first question.
    ///
    /// - Parameter windowID: the parent window, as the client gave it; may be empty (#116).
    package func makeConversation(for requester: any Requester, windowID: String = "") -> Conversation {
        Conversation(in: self, for: requester, windowID: windowID)
    }

    /// Makes a ticket, which must be given back with ``leave(_:)``.
    func makeTicket(for requester: any Requester) -> Ticket {
        ticketCount += 1
        let ticket = Ticket(number: ticketCount, requester: requester.name)
        tickets.insert(ticket)
        return ticket
    }

    /// Waits for the turn of a ticket, once.
    func takeTurn(_ ticket: Ticket) async -> Turn {
        guard tickets.contains(ticket) else { return .left }
        guard holder != nil else {
            holder = ticket
            return .given
        }
        switch waiting.insert(ticket, of: ticket.requester) {
        case .added: break
        case .addedInPlace(let other): end(other, with: .refused)
        case .refused: return .refused
        }
        let turn = Promise<Turn>()
        turns[ticket] = turn
        return await turn.value()
    }

    /// Gives back a ticket, and with it its turn or place in the queue.
    func leave(_ ticket: Ticket) {
        tickets.remove(ticket)
        guard holder == ticket else {
            waiting.remove(ticket, of: ticket.requester)
            return end(ticket, with: .left)
        }
        holder = waiting.takeNext()
        if let holder { end(holder, with: .given) }
    }

    private func end(_ ticket: Ticket, with turn: Turn) {
        turns.removeValue(forKey: ticket)?.fulfill(turn)
    }
}
