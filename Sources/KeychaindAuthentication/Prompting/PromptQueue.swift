package import KeychaindDBus
import KeychaindDesktop
package import Logging

/// The queue of conversations: one at a time has the screen, in fair turns between programs (see ``FairQueue``).
@BusActor
package final class PromptQueue {
    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
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

    /// A ticket in the queue.
    private struct Place {
        let program: Program
        let turn: Promise<Turn>
    }

    private var waiting: FairQueue<Program, Ticket>
    private var places: [Ticket: Place] = [:]
    private var holder: Ticket?
    private var tickets: Set<Ticket> = []
    private var ticketCount: UInt64 = 0
    /// The failures that were logged.
    private var reported: Set<String> = []

    /// Creates an empty queue.
    ///
    /// - Parameter limit: the number of waiting conversations of all programs.
    package init(_ prompter: any Prompter, limit: Int = 1024, logger: Logger) {
        self.prompter = prompter
        self.logger = logger
        waiting = FairQueue(limit: limit)
    }

    /// Logs a failure, each once: a program may ask for ever where no dialog can be shown.
    func report(_ error: PromptError) {
        guard reported.count < 64, reported.insert("\(error)").inserted else { return }
        logger.warning("A prompt could not be answered", metadata: ["reason": "\(error)"])
    }

    /// The trust that a dialog would probably have, without starting or showing anything; nil if none can.
    package func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
        await prompter.expectedTrust(for: requester)
    }

    /// Makes a conversation, which enters the queue with its first question.
    ///
    /// - Parameter windowID: the parent window, as the client gave it; may be empty (#116).
    package func makeConversation(for requester: any Requester, windowID: String = "") -> Conversation {
        Conversation(in: self, for: requester, windowID: windowID)
    }

    /// Makes a ticket, which must be given back with ``leave(_:)``.
    func makeTicket() -> Ticket {
        ticketCount += 1
        let ticket = Ticket(number: ticketCount)
        tickets.insert(ticket)
        return ticket
    }

    /// Waits for the turn of a ticket, once.
    func takeTurn(_ ticket: Ticket, for requester: any Requester) async -> Turn {
        // Connections whose program is not known yet would each have turns of their own.
        let program = await requester.program()
        guard tickets.contains(ticket) else { return .left }
        guard holder != nil else {
            holder = ticket
            return .given
        }
        switch waiting.insert(ticket, of: program) {
        case .added: break
        case .addedInPlace(let other): end(other, with: .refused)
        case .refused: return .refused
        }
        let place = Place(program: program, turn: Promise())
        places[ticket] = place
        return await place.turn.value()
    }

    /// Gives back a ticket, and with it its turn or place in the queue.
    func leave(_ ticket: Ticket) {
        tickets.remove(ticket)
        guard holder == ticket else {
            if let place = places[ticket] { waiting.remove(ticket, of: place.program) }
            return end(ticket, with: .left)
        }
        holder = waiting.takeNext()
        if let holder { end(holder, with: .given) }
    }

    private func end(_ ticket: Ticket, with turn: Turn) {
        places.removeValue(forKey: ticket)?.turn.fulfill(turn)
    }
}
