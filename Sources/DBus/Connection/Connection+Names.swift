extension Connection {
    /// The unique name of the connection that owns a name, or nil if none does.
    package func owner(of name: String) async throws(BusError) -> String? {
        let message = makeBusCall("GetNameOwner")
        message.append(name)
        do throws(BusError) {
            return try await call(message).read(String.self)
        } catch {
            guard error.name == .nameHasNoOwner else { throw error }
            return nil
        }
    }

    /// Starts the program that a service file names for a name; returns once it owns the name.
    ///
    /// Throws `ServiceUnknown` if there is no such file, and one of the errors below `org.freedesktop.DBus.Error.Spawn` if the program
    /// does not start.
    ///
    /// - Parameter timeout: how long to wait before failing with `NoReply`; the bus has a limit of its own.
    package func startService(_ name: String, timeout: Duration? = .seconds(25)) async throws(BusError) {
        let message = makeBusCall("StartServiceByName")
        message.append(name, UInt32(0))
        _ = try await call(message, timeout: timeout)
    }

    private func makeBusCall(_ member: String) -> Message {
        Message.call(to: SignalMatch.bus, ObjectPath(unchecked: "/org/freedesktop/DBus"), SignalMatch.bus, member)
    }
}
