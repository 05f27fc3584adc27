/// What the outbox sends.
enum OutgoingEntry {
    case message(OutgoingMessage)
    /// An action by which libdbus sends, after everything before it was written.
    case handover(@BusActor () -> Void)
}

/// Entries behind a full socket, in turn between the receivers of the messages.
///
/// The messages to one receiver stay in their order, and all stay on their side of a broadcast and of a handover.
struct OutgoingBacklog {
    /// The messages between two broadcasts or handovers.
    private final class Section {
        private var lanes: [String: FirstInFirstOut<OutgoingMessage>] = [:]
        /// Receivers for which nothing waited before: each is served once before all others.
        private var fresh = FirstInFirstOut<String>()
        private var waiting = FirstInFirstOut<String>()

        var isEmpty: Bool { lanes.isEmpty }

        func append(_ message: OutgoingMessage, to receiver: String) {
            if lanes[receiver] == nil { fresh.append(receiver) }
            lanes[receiver, default: FirstInFirstOut()].append(message)
        }

        /// Takes the first message of the next receiver for which nothing waited before.
        func takeFresh() -> OutgoingMessage? { fresh.removeFirst().flatMap(take) }

        /// Takes the next message of the other receiver whose turn it is.
        func takeWaiting() -> OutgoingMessage? { waiting.removeFirst().flatMap(take) }

        private func take(for receiver: String) -> OutgoingMessage? {
            let message = lanes[receiver]?.removeFirst()
            if lanes[receiver]?.isEmpty == true { lanes[receiver] = nil } else { waiting.append(receiver) }
            return message
        }
    }

    /// So much is taken at once; messages that come later wait for it.
    private static let bytesAtOnce = 32 << 10
    private static let messagesAtOnce = 64

    /// The earlier sections, each with what comes after it.
    private var closed = FirstInFirstOut<(section: Section, end: OutgoingEntry)>()
    private var open = Section()

    var isEmpty: Bool { closed.isEmpty && open.isEmpty }

    mutating func append(_ entry: OutgoingEntry) {
        if case .message(let message) = entry, let receiver = message.receiver {
            return open.append(message, to: receiver)
        }
        closed.append((open, entry))
        open = Section()
    }

    /// Takes the next few entries; none if there are none.
    mutating func takeNext() -> [OutgoingEntry] {
        let section = closed.first?.section ?? open
        var entries: [OutgoingEntry] = []
        var size = 0
        var hasRoom: Bool { size < OutgoingBacklog.bytesAtOnce && entries.count < OutgoingBacklog.messagesAtOnce }
        while hasRoom, let message = section.takeFresh() {
            entries.append(.message(message))
            size += message.size
        }
        // At least one: new receivers must not keep the others waiting for ever.
        while let message = section.takeWaiting() {
            entries.append(.message(message))
            size += message.size
            if !hasRoom { break }
        }
        if section.isEmpty, let end = closed.removeFirst()?.end { entries.append(end) }
        return entries
    }

    /// Takes all entries.
    mutating func takeAll() -> [OutgoingEntry] {
        var entries: [OutgoingEntry] = []
        while !isEmpty { entries += takeNext() }
        return entries
    }
}
