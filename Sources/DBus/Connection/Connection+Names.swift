import CDBus

extension Connection {
    /// Asks for a well-known name.
    ///
    /// Blocks until the bus has answered.
    package func requestName(
        _ name: String,
        options: NameRequest.Options = []
    ) throws(BusError) -> NameRequest.Outcome {
        guard isOpen else { throw Connection.disconnected }
        outbox.drain(for: .seconds(25))
        var error = DBusError()
        dbus_error_init(&error)
        let code = dbus_bus_request_name(
            pointer,
            name,
            options.rawValue | NameRequest.Options.doNotQueue.rawValue,
            &error
        )
        guard code >= 0 else { throw BusError(consuming: &error) }
        return NameRequest.Outcome(code: code)
    }

    /// The unique name of the connection that owns a name, or nil if none does.
    package func owner(of name: String, timeout: Duration? = .seconds(25)) async throws(BusError) -> String? {
        let message = makeBusCall("GetNameOwner")
        message.append(name)
        do throws(BusError) {
            return try await call(message, timeout: timeout).read(String.self)
        } catch {
            guard error.name == .nameHasNoOwner else { throw error }
            return nil
        }
    }

    /// Whether somebody owns a name, or would be started by the bus to own it.
    ///
    /// False also if the bus does not say.
    package func hasService(_ name: String) async -> Bool {
        if (try? await owner(of: name)) != nil { return true }
        let names = try? await call(makeBusCall("ListActivatableNames")).read([String].self)
        return names?.contains(name) == true
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

    /// Calls back with the unique name of whoever owns a name, now and whenever that changes; nil if nobody does.
    ///
    /// The first time is when the bus has answered. It is never called back with the same owner twice in a row.
    @discardableResult
    package func followOwner(of name: String, _ handler: @escaping @BusActor (_ owner: String?) -> Void)
        -> SubscriptionID
    {
        var known: String??
        let update: @BusActor (String?) -> Void = { owner in
            guard known != .some(owner) else { return }
            known = .some(owner)
            handler(owner)
        }
        let subscription = subscribe(to: .ownerChanged(of: name)) { message in
            guard let (changed, _, owner) = try? message.read(String.self, String.self, String.self), changed == name
            else { return }
            update(owner.isEmpty ? nil : owner)
        }
        BusActor.start { [self] in
            var owner: String?
            do throws(BusError) {
                owner = try await self.owner(of: name)
            } catch {
                guard isOpen else { return }
            }
            // A change that was heard meanwhile is newer than the answer.
            guard known == nil, isSubscribed(subscription) else { return }
            update(owner)
        }
        return subscription
    }

    /// What the bus itself knows of the process behind a connection.
    ///
    /// Throws `NameHasNoOwner` if the connection has gone.
    package func credentials(of name: String) async throws(BusError) -> ConnectionCredentials {
        let message = makeBusCall("GetConnectionCredentials")
        message.append(name)
        let reply = try await call(message)
        var reader = reply.makeReader()
        return try ConnectionCredentials(from: &reader)
    }

    /// The first call on every connection, by which the bus gives it its name.
    func sayHello(timeout: Duration) async throws(BusError) -> String {
        try await call(makeBusCall("Hello"), timeout: timeout).read(String.self)
    }

    private func makeBusCall(_ member: String) -> Message {
        Message.call(to: SignalMatch.bus, ObjectPath(unchecked: "/org/freedesktop/DBus"), SignalMatch.bus, member)
    }
}
