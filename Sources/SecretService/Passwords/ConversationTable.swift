import Authentication
import DBus

/// The talks with people that calls wait for, as they have no prompt that would end them.
@BusActor
final class ConversationTable {
    private var conversations: [ObjectIdentifier: Conversation] = [:]

    func insert(_ conversation: Conversation) {
        conversations[ObjectIdentifier(conversation)] = conversation
    }

    /// Ends a conversation, and forgets it.
    func end(_ conversation: Conversation, _ withdrawal: Withdrawal = .byProgram) {
        conversations[ObjectIdentifier(conversation)] = nil
        conversation.end(withdrawal)
    }

    /// Ends those of a caller that has left.
    func endAll(of caller: String) {
        for conversation in conversations.values where conversation.caller == caller { end(conversation) }
    }

    /// Ends all, as when nobody sees who asks.
    func endAll(_ withdrawal: Withdrawal) {
        for conversation in conversations.values { end(conversation, withdrawal) }
    }
}
