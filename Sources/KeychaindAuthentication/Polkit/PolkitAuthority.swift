import KeychaindDBus
import KeychaindDesktop

/// The polkit process that currently owns the name on the system bus.
@BusActor
struct PolkitAuthority {
    private static let busName = "org.freedesktop.PolicyKit1"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/PolicyKit1/Authority")
    private static let interface = "org.freedesktop.PolicyKit1.Authority"

    /// `AllowUserInteraction` of `CheckAuthorizationFlags`.
    private static let mayAsk: UInt32 = 1

    /// The caller may not ask about the subject or pass details.
    static let notAuthorized = ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.NotAuthorized")

    let connection: Connection
    /// The unique name of the process; only its answers count.
    let owner: String

    /// Finds polkit; starts it if necessary.
    static func find(on bus: SystemBus, until deadline: Deadline) async throws(BusError) -> PolkitAuthority {
        let connection = try await bus.connection()
        if let owner = try await connection.owner(of: busName, timeout: deadline.rest) {
            return PolkitAuthority(connection: connection, owner: owner)
        }
        try await connection.startService(busName, timeout: deadline.rest)
        guard let owner = try await connection.owner(of: busName, timeout: deadline.rest) else {
            throw BusError(.serviceUnknown, "polkit exited right after it was started")
        }
        return PolkitAuthority(connection: connection, owner: owner)
    }

    /// Checks an authorisation without asking the person.
    func check(_ subject: PolkitSubject, _ action: String, until deadline: Deadline) async throws(BusError)
        -> PolkitResult
    {
        let call = makeCall("CheckAuthorization")
        call.append(subject, action, [String: String](), UInt32(0), "")
        return try await connection.call(call, timeout: deadline.rest).read(PolkitResult.self)
    }

    /// Checks an authorisation; polkit may show its dialog.
    ///
    /// - Parameters:
    ///   - details: texts for the dialog; see ``PolkitDialog`` for the restriction.
    ///   - cancellationID: the name for ``cancel(_:)``, unique on this connection.
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

    func cancel(_ cancellationID: String) {
        let call = makeCall("CancelCheckAuthorization")
        call.append(cancellationID)
        connection.send(call)
    }

    private func makeCall(_ member: String) -> Message {
        Message.call(to: owner, PolkitAuthority.path, PolkitAuthority.interface, member)
    }
}

/// The result of a check, `(bba{ss})`.
struct PolkitResult: BusValue, Hashable {
    static var signature: String { "(bba{ss})" }

    let isAuthorized: Bool
    /// Whether a dialog could change the result.
    let isChallenge: Bool
    /// Whether the person closed the dialog.
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
