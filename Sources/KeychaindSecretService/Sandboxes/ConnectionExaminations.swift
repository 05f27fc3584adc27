package import KeychaindDBus
package import KeychaindDesktop
import KeychaindLanguage
import Logging

/// Finds the sandboxes around the programs of connections, a few at a time.
@BusActor
package final class ConnectionExaminations {
    /// Finds the sandbox around a process; called on a thread of its own, where it may block.
    package typealias Look = @Sendable (ConnectionCredentials, ExaminedRoots) throws(ExaminationObstacle) -> Confinement

    private enum Outcome {
        case found(Confinement)
        /// The connection has left the bus.
        case gone
        /// The examination must enter a root, where it may block for ever.
        case root(String)
        case mayPass(reason: String)
    }

    /// The examinations of one kind.
    private struct Lane {
        let turns: ExaminationTurns
        let threads: BlockingCalls

        @BusActor
        init(places: Int, time: Duration) {
            turns = ExaminationTurns(places: places)
            threads = BlockingCalls(limit: 64, patience: time)
        }
    }

    private let connection: Connection
    private let look: Look
    private let logger: Logger
    private let ownRoot: Lane
    private let otherRoots: Lane

    /// The time after which an examination is tried again.
    private static let pause = Duration.milliseconds(100)

    /// - Parameter time: the time limit of each examination.
    init(on connection: Connection, look: @escaping Look, within time: Duration, logger: Logger) {
        self.connection = connection
        self.look = look
        self.logger = logger
        ownRoot = Lane(places: 8, time: time)
        otherRoots = Lane(places: 4, time: time)
    }

    /// Finds the sandbox around a program; waits while that fails for a reason that may pass.
    ///
    /// Decided without it, the program would take its items for lost. Its calls wait instead.
    ///
    /// - Returns: nil if the connection has left the bus.
    func confinement(of name: String, while isWanted: @BusActor () -> Bool) async -> Confinement? {
        var root: String?
        while isWanted() {
            switch await look(at: name, into: root, while: isWanted) {
            case .found(let confinement): return confinement
            case .gone: return nil
            case .root(let other): root = other
            case .mayPass(let reason):
                logger.debug(
                    "A program waits for its examination",
                    metadata: ["caller": "\(name)", "reason": "\(reason)"]
                )
                await BusActor.loop.wait(for: ConnectionExaminations.pause)
            }
        }
        return nil
    }

    /// - Parameter root: another root that has to be entered; nil if that is tried without.
    private func look(at name: String, into root: String?, while isWanted: @BusActor () -> Bool) async -> Outcome {
        let lane = root == nil ? ownRoot : otherRoots
        await lane.turns.enter()
        defer { lane.turns.leave() }
        let credentials: ConnectionCredentials
        do throws(BusError) {
            // Not before its turn: they hold a descriptor, and thousands of connections may wait.
            credentials = try await connection.credentials(of: name)
        } catch {
            return error.mayPass ? .mayPass(reason: "\(error)") : .gone
        }
        let roots: ExaminedRoots = root == nil ? .own : .all
        let found = await lane.threads.runEventually(for: root, while: isWanted) { [look] in
            Result { () throws(ExaminationObstacle) in try look(credentials, roots) }
        }
        switch found {
        case .success(let confinement): return .found(confinement)
        case .failure(.root(let other)): return .root(other)
        case .failure(.shortage): return .mayPass(reason: "descriptors or memory are short")
        case nil: return .found(.unknown(reason: Text("looking into it takes too long")))
        }
    }
}

extension BusError {
    /// Whether the bus may answer the same question another time.
    fileprivate var mayPass: Bool {
        switch name {
        case .failed, .inputOutput, .limitsExceeded, .noMemory, .noReply, .timeout: true
        default: false
        }
    }
}

/// Lets some examinations run at a time, in the order of their arrival.
@BusActor
private final class ExaminationTurns {
    private var places: Int
    private var waiting: [Promise<Void>] = []

    init(places: Int) {
        self.places = places
    }

    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        let turn = Promise<Void>()
        waiting.append(turn)
        await turn.wait()
    }

    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().fulfill()
    }
}
