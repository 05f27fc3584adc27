import Glibc
import KeychaindDBus
import KeychaindVault

/// The open sessions of a client, found by the paths in its calls.
///
/// Some programs open one for each item that they read and close none. Past a limit, the session that was not used for
/// the longest time ends, so that a long run of such a program does not fail.
struct ClientSessions {
    private var sessions: [ObjectNumber: Session] = [:]
    private var useCount: UInt64 = 0

    var count: Int { sessions.count }

    var numbers: some Sequence<ObjectNumber> { sessions.keys }

    subscript(number: ObjectNumber) -> Session? { sessions[number] }

    mutating func insert(_ session: Session) {
        noteUse(of: session)
        sessions[session.number] = session
    }

    private mutating func noteUse(of session: Session) {
        useCount += 1
        session.lastUse = useCount
    }

    mutating func remove(_ session: Session) {
        sessions[session.number] = nil
    }

    /// Removes the session that was not used for the longest time.
    mutating func removeOldest() {
        guard let oldest = sessions.values.min(by: { $0.lastUse < $1.lastUse }) else { return }
        sessions[oldest.number] = nil
    }

    mutating func removeAll() {
        sessions = [:]
    }

    // MARK: Reading arguments

    /// Reads a session path; throws `NoSession` if the session is not the client's (#38, #41).
    mutating func read(_ reader: inout Reader) throws(BusError) -> Session {
        try session(at: try reader.withObjectPath { path in SecretPath(cString: path) })
    }

    /// Nil for the path `/`.
    mutating func readOptional(_ reader: inout Reader) throws(BusError) -> Session? {
        let path = try reader.withObjectPath { path in
            strcmp(path, "/") == 0 ? nil : Optional(SecretPath(cString: path))
        }
        return if let path { try session(at: path) } else { nil }
    }

    private mutating func session(at path: SecretPath?) throws(BusError) -> Session {
        guard case .session(let number) = path, let session = sessions[number] else {
            throw BusError(.noSession, "there is no such session")
        }
        noteUse(of: session)
        return session
    }

    /// Reads an `(oayays)` encoded for a session of the client.
    mutating func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try read(&reader)
            return try session.readSecret(&reader)
        }
    }
}

extension Client {
    /// Adds a session, and ends others if there are too many.
    func insert(_ session: Session) {
        if sessions.count >= environment.limits.sessions { sessions.removeOldest() }
        sessions.insert(session)
        endSessionsOfProgram()
    }

    /// Ends sessions past the limit of the program: the oldest ones of the clients with most.
    func endSessionsOfProgram() {
        let limit = environment.limits.sessions * environment.limits.timesForProgram
        let excess = account.count { $0.sessions.count } - limit
        guard excess > 0 else { return }
        for _ in 0..<excess {
            account.clients.max { $0.sessions.count < $1.sessions.count }?.sessions.removeOldest()
        }
    }
}
