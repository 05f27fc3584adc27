import DBus

/// Makes one large answer at a time.
///
/// A secret that has to be read from the disk may be of 16 MiB. If those of all calls that wait were read at once, one caller
/// could fill the memory with them.
@BusActor
final class LargeAnswers {
    private enum State {
        case idle
        /// An answer is being made; the others follow in the order of the calls.
        case busy
    }

    private let connection: Connection
    private var state = State.idle
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init(connection: Connection) {
        self.connection = connection
    }

    /// Runs a closure that makes and sends an answer, when those before are made and the bus has taken them.
    func make(_ answer: () async throws(BusError) -> Void) async throws(BusError) {
        await begin()
        defer { end() }
        await connection.waitForRoom()
        try await answer()
    }

    private func begin() async {
        switch state {
        case .idle: state = .busy
        case .busy: await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func end() {
        if waiting.isEmpty {
            state = .idle
        } else {
            waiting.removeFirst().resume()
        }
    }
}
