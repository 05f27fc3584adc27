import DBus
import Desktop

/// polkit's daemon: the process that owns its name on the system bus at a moment.
@BusActor
struct PolkitAuthority {
    private static let busName = "org.freedesktop.PolicyKit1"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/PolicyKit1/Authority")
    private static let interface = "org.freedesktop.PolicyKit1.Authority"

    /// `AllowUserInteraction` of `CheckAuthorizationFlags`.
    private static let mayAsk: UInt32 = 1

    /// polkit's error for a caller who may not ask about that subject, or pass details.
    static let notAuthorized = ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.NotAuthorized")

    let connection: Connection
    /// The unique name of the process; nobody else's answer counts.
    let owner: String

    /// Finds polkit, and starts it if it does not run.
    static func find(on bus: SystemBus, until deadline: Deadline) async throws(BusError) -> PolkitAuthority {
        let connection = try await bus.connection()
        if let owner = try await connection.owner(of: busName, timeout: deadline.rest) {
            return PolkitAuthority(connection: connection, owner: owner)
        }
        try await connection.startService(busName, timeout: deadline.rest)
        guard let owner = try await connection.owner(of: busName, timeout: deadline.rest) else {
            throw BusError(.serviceUnknown, "polkit ends as soon as it is started")
        }
        return PolkitAuthority(connection: connection, owner: owner)
    }

    /// Asks whether a subject may do something, without asking a person.
    func check(_ subject: PolkitSubject, _ action: String, until deadline: Deadline) async throws(BusError)
        -> PolkitResult
    {
        let call = makeCall("CheckAuthorization")
        call.append(subject, action, [String: String](), UInt32(0), "")
        return try await connection.call(call, timeout: deadline.rest).read(PolkitResult.self)
    }

    /// The same, and lets polkit ask a person with its dialog.
    ///
    /// - Parameters:
    ///   - details: what the dialog is to show; polkit takes them from few.
    ///   - cancellationID: names the check, for ``cancel(_:)``; one that no other check of this connection has.
    func ask(
        _ subject: PolkitSubject,
        _ action: String,
        details: [String: String],
        cancellationID: String,
        timeout: Duration
    ) async throws(BusError) -> PolkitResult {
        let call = makeCall("CheckAuthorization")
        call.append(subject, action, details, PolkitAuthority.mayAsk, cancellationID)
        return try await connection.call(call, timeout: timeout).read(PolkitResult.self)
    }

    /// Takes the dialog of a check away.
    func cancel(_ cancellationID: String) {
        let call = makeCall("CancelCheckAuthorization")
        call.append(cancellationID)
        connection.send(call)
    }

    private func makeCall(_ member: String) -> Message {
        Message.call(to: owner, PolkitAuthority.path, PolkitAuthority.interface, member)
    }
}

/// What polkit has decided: `(bba{ss})`.
struct PolkitResult: BusValue, Hashable {
    static var signature: String { "(bba{ss})" }

    let isAuthorized: Bool
    /// Whether asking a person could change the answer, had one been asked.
    let isChallenge: Bool
    /// Whether a person was asked and has closed the dialog.
    let isDismissed: Bool

    init(from reader: inout Reader) throws(BusError) {
        let (isAuthorized, isChallenge, details) = try reader.readStructure { (reader) throws(BusError) in
            (try Bool(from: &reader), try Bool(from: &reader), try [String: String](from: &reader))
        }
        self.isAuthorized = isAuthorized
        self.isChallenge = isChallenge
        isDismissed = details["polkit.dismissed"] != nil
    }

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            isAuthorized.write(to: &writer)
            isChallenge.write(to: &writer)
            (isDismissed ? ["polkit.dismissed": "true"] : [:]).write(to: &writer)
        }
    }
}
