import Synchronization

/// The descriptors of received calls, as long as their messages exist.
///
/// While many wait, libdbus reads nothing more, not even the answers of the bus: a call that waits for such an answer
/// would hold up all programs. So a call has few, and is refused at once while too many wait.
final class ReceivedDescriptors: Sendable {
    /// The places of one message.
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
    /// With those of one more call less than the number at which libdbus stops reading.
    private static let limit = 128

    /// The number of descriptors by the unique name of their sender.
    private let counts = Mutex<[String: Int]>([:])

    /// Nil if a call has too many, or too many wait.
    func places(for message: Message) -> Places? {
        guard let count = message.descriptorCount, count <= ReceivedDescriptors.perCall else { return nil }
        let program = message.sender
        let isAdmitted = counts.withLock { counts in
            let own = counts[program, default: 0] + count
            guard own <= ReceivedDescriptors.perProgram,
                counts.values.reduce(count, +) <= ReceivedDescriptors.limit
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
