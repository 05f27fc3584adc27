import Synchronization

/// Limits the descriptors of received calls whose messages still exist.
///
/// At a limit of its own, libdbus stops reading, replies of the bus included: calls that wait for such a reply would
/// block all programs. So a call may have few descriptors, and is refused at once while too many are held.
final class ReceivedDescriptors: Sendable {
    /// The share of one message, given back when it is released.
    final class Places: Sendable {
        private let owner: ReceivedDescriptors
        private let program: String
        private let count: Int

        fileprivate init(_ count: Int, of program: String, in owner: ReceivedDescriptors) {
            self.owner = owner
            self.program = program
            self.count = count
        }

        deinit { owner.giveBack(count, of: program) }
    }

    /// More than any method takes.
    private static let perCall = 4
    private static let perProgram = 8
    /// Together with the descriptors of one more call, below the number at which libdbus stops reading.
    private let limit = min(128, Connection.receivedDescriptors / 2)

    /// The number of descriptors by the unique name of their sender.
    private let counts = Mutex<[String: Int]>([:])

    /// Nil if a call has too many descriptors, or too many are held.
    func places(for message: Message) -> Places? {
        guard let count = message.descriptorCount, count <= ReceivedDescriptors.perCall else { return nil }
        let program = message.sender
        let isAdmitted = counts.withLock { counts in
            let own = counts[program, default: 0] + count
            guard own <= ReceivedDescriptors.perProgram,
                counts.values.reduce(count, +) <= limit
            else { return false }
            counts[program] = own
            return true
        }
        return isAdmitted ? Places(count, of: program, in: self) : nil
    }

    private func giveBack(_ count: Int, of program: String) {
        counts.withLock { counts in
            let rest = counts[program, default: 0] - count
            counts[program] = rest > 0 ? rest : nil
        }
    }
}
