import DBus

/// The open sessions of all callers.
struct SessionTable {
    private var sessions: [ObjectNumber: Session] = [:]
    private var numbers: [String: Set<ObjectNumber>] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Throws `LimitsExceeded` if a caller may have no further session.
    func checkRoom(for owner: String) throws(BusError) {
        guard numbers[owner, default: []].count < limit else {
            throw BusError(.limitsExceeded, "you already have \(limit) open sessions")
        }
    }

    /// Adds a session; throws `LimitsExceeded` if its owner has too many.
    mutating func insert(_ session: Session) throws(BusError) {
        try checkRoom(for: session.owner)
        sessions[session.number] = session
        numbers[session.owner, default: []].insert(session.number)
    }

    /// The session, if it is the caller's: somebody else's does not exist for them (#38).
    func session(_ number: ObjectNumber, of caller: String) -> Session? {
        guard let session = sessions[number], session.owner == caller else { return nil }
        return session
    }

    mutating func remove(_ session: Session) {
        sessions[session.number] = nil
        numbers[session.owner]?.remove(session.number)
        if numbers[session.owner]?.isEmpty == true {
            numbers[session.owner] = nil
        }
    }

    /// Ends all sessions of a connection that has gone (#35).
    mutating func removeAll(of owner: String) {
        for number in numbers.removeValue(forKey: owner) ?? [] {
            sessions[number] = nil
        }
    }

    func numbers(of owner: String) -> Set<ObjectNumber> {
        numbers[owner] ?? []
    }
}
