import Synchronization

/// Limits the descriptors of received calls whose messages still exist, for one server of objects.
///
/// At a limit of its own, libdbus stops reading, replies of the bus included: calls that wait for such a reply would
/// block all programs. So a call may have few descriptors, and is refused at once while too many are held.
final class ReceivedDescriptors: Sendable {
    /// The share of one message, given back when it is released.
    final class Places: Sendable {
        private let owner: ReceivedDescriptors
        private let sender: String
        private let count: Int

        fileprivate init(_ count: Int, of sender: String, in owner: ReceivedDescriptors) {
            self.owner = owner
            self.sender = sender
            self.count = count
        }

        deinit { owner.giveBack(count, of: sender) }
    }

    /// More than any method takes.
    private static let perCall = 4
    /// Those of three servers – the service, the portal and a dialog – and of one more call are below the number at
    /// which libdbus stops reading.
    private let limit = Connection.receivedDescriptors / 4
    private let perSender: Int

    /// The number of descriptors by the unique name of their sender.
    private let counts = Mutex<[String: Int]>([:])

    /// - Parameter perSender: the most descriptors of one connection; nil if only one may call.
    init(perSender: Int?) {
        self.perSender = perSender ?? limit
    }

    /// Nil if a call has too many descriptors, or too many are held.
    func places(for message: Message) -> Places? {
        guard let count = message.descriptorCount, count <= ReceivedDescriptors.perCall else { return nil }
        let sender = message.sender
        let isAdmitted = counts.withLock { counts in
            let own = counts[sender, default: 0] + count
            guard own <= perSender, counts.values.reduce(count, +) <= limit else { return false }
            counts[sender] = own
            return true
        }
        return isAdmitted ? Places(count, of: sender, in: self) : nil
    }

    private func giveBack(_ count: Int, of sender: String) {
        counts.withLock { counts in
            let rest = counts[sender, default: 0] - count
            counts[sender] = rest > 0 ? rest : nil
        }
    }
}
