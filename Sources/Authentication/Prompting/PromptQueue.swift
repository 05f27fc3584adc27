package import DBus
package import Logging

/// Where all who have something to ask of a person wait for their turn: one conversation at a time has the screen.
///
/// Callers take turns, whatever each of them has waiting; see ``FairQueue``.
@BusActor
package final class PromptQueue {
    /// A place in the queue.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
        fileprivate let caller: String
    }

    /// What has become of a place in the queue.
    enum Turn: Sendable {
        /// It is its turn, until it is given back with ``leave(_:)``.
        case given
        /// There is no room for it.
        case refused
        /// It was given back before its turn.
        case left
    }

    let prompter: any Prompter
    let logger: Logger

    private var waiting: FairQueue<String, Ticket>
    private var continuations: [Ticket: CheckedContinuation<Turn, Never>] = [:]
    private var holder: Ticket?
    /// All that were not left.
    private var tickets: Set<Ticket> = []
    private var ticketCount: UInt64 = 0

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - prompter: who shows the dialogs.
    ///   - limit: how many conversations may wait, of all callers together.
    package init(_ prompter: any Prompter, limit: Int = 1024, logger: Logger) {
        self.prompter = prompter
        self.logger = logger
        waiting = FairQueue(limit: limit)
    }

    /// Whether somebody can probably be asked at this moment; nothing is started or shown to find it out.
    package func isAvailable(for caller: String) async -> Bool {
        await prompter.isAvailable(for: caller)
    }

    /// Makes a conversation, which waits for nothing before it is asked something.
    ///
    /// - Parameters:
    ///   - caller: the unique name of the connection on whose behalf a person is asked.
    ///   - windowID: the window to show dialogs above, as the client spells it; may be empty (#116).
    package func makeConversation(for caller: String, windowID: String = "") -> Conversation {
        Conversation(in: self, caller: caller, windowID: windowID)
    }

    /// A new place, which still has to be taken, and in any case to be left.
    func makeTicket(for caller: String) -> Ticket {
        ticketCount += 1
        let ticket = Ticket(number: ticketCount, caller: caller)
        tickets.insert(ticket)
        return ticket
    }

    /// Waits for the turn of a ticket, which is used once.
    func takeTurn(_ ticket: Ticket) async -> Turn {
        await withCheckedContinuation { continuation in
            // In here, since to suspend may let others run first.
            guard tickets.contains(ticket) else { return continuation.resume(returning: .left) }
            guard holder != nil else {
                holder = ticket
                return continuation.resume(returning: .given)
            }
            switch waiting.insert(ticket, of: ticket.caller) {
            case .added:
                continuations[ticket] = continuation
            case .addedInPlace(let other):
                continuations[ticket] = continuation
                resume(other, with: .refused)
            case .refused:
                continuation.resume(returning: .refused)
            }
        }
    }

    /// Gives a turn back, or a place in the queue.
    func leave(_ ticket: Ticket) {
        tickets.remove(ticket)
        guard holder == ticket else {
            waiting.remove(ticket, of: ticket.caller)
            return resume(ticket, with: .left)
        }
        holder = waiting.takeNext()
        if let holder { resume(holder, with: .given) }
    }

    private func resume(_ ticket: Ticket, with turn: Turn) {
        continuations.removeValue(forKey: ticket)?.resume(returning: turn)
    }
}
