import Glibc
import KeychaindDBus
import KeychaindVault

/// The open sessions of a client, found by the paths in its calls.
struct ClientSessions {
    private var sessions: [ObjectNumber: Session] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var numbers: some Sequence<ObjectNumber> { sessions.keys }

    subscript(number: ObjectNumber) -> Session? { sessions[number] }

    /// Throws `LimitsExceeded` past the limit.
    func checkRoom() throws(BusError) {
        guard sessions.count < limit else {
            throw BusError(.limitsExceeded, "you already have \(limit) open sessions")
        }
    }

    mutating func insert(_ session: Session) {
        sessions[session.number] = session
    }

    mutating func remove(_ session: Session) {
        sessions[session.number] = nil
    }

    mutating func removeAll() {
        sessions = [:]
    }

    // MARK: Reading arguments

    /// Reads a session path; throws `NoSession` if the session is not the client's (#38, #41).
    func read(_ reader: inout Reader) throws(BusError) -> Session {
        try session(at: try reader.withObjectPath { path in SecretPath(cString: path) })
    }

    /// Nil for the path `/`.
    func readOptional(_ reader: inout Reader) throws(BusError) -> Session? {
        let path = try reader.withObjectPath { path in
            strcmp(path, "/") == 0 ? nil : Optional(SecretPath(cString: path))
        }
        return if let path { try session(at: path) } else { nil }
    }

    private func session(at path: SecretPath?) throws(BusError) -> Session {
        guard case .session(let number) = path, let session = sessions[number] else {
            throw BusError(.noSession, "there is no such session")
        }
        return session
    }

    /// Reads an `(oayays)` encoded for a session of the client.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try read(&reader)
            return try session.readSecret(&reader)
        }
    }
}
