import CKeychaindDBus

extension Connection {
    /// Requests a well-known name, and handles messages until the bus has replied.
    ///
    /// Descriptors that others send meanwhile would fill libdbus's queue, which then reads no reply.
    ///
    /// - Parameter whenLost: called when another program has taken the name over; it may do so before this returns.
    package func acquireName(
        _ name: String,
        options: NameRequest.Options = [],
        whenLost: (@BusActor () -> Void)? = nil
    ) async throws(BusError) -> NameRequest.Outcome {
        if let whenLost {
            // Before the request, as the loss can come with the reply.
            subscribe(to: .nameLost) { message in
                if let lost = try? message.read(String.self), lost == name { whenLost() }
            }
        }
        let message = makeBusCall("RequestName")
        message.append(name, options.rawValue | NameRequest.Options.doNotQueue.rawValue)
        let code = try await call(message).read(UInt32.self)
        return NameRequest.Outcome(code: Int32(clamping: code))
    }

    /// Gives a name up; no call comes for it afterwards.
    package func releaseName(_ name: String, timeout: Duration?) async throws(BusError) {
        let message = makeBusCall("ReleaseName")
        message.append(name)
        _ = try await call(message, timeout: timeout)
    }

    /// Requests a well-known name, and blocks until the bus has replied: for connections without floods, as in
    /// tests.
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

    /// Whether a text can be the destination of a message; libdbus ends the process for any other.
    nonisolated static func isName(_ text: String) -> Bool {
        dbus_validate_bus_name(text, nil) != 0
    }

    /// The name in a reply of `GetNameOwner` or `Hello`; throws `Failed` for a text that is no name.
    nonisolated static func uniqueName(in reply: Message) throws(BusError) -> String {
        let name = try reply.read(String.self)
        guard isName(name) else { throw BusError(.failed, "the bus answered with an invalid name") }
        return name
    }

    /// The unique name of the owner of a name; nil if it has none.
    package func owner(of name: String, timeout: Duration? = .seconds(25)) async throws(BusError) -> String? {
        let message = makeBusCall("GetNameOwner")
        message.append(name)
        do throws(BusError) {
            return try Connection.uniqueName(in: await call(message, timeout: timeout))
        } catch {
            guard error.name == .nameHasNoOwner else { throw error }
            return nil
        }
    }

    /// The unique names of the owner of a name and of those that wait for it, in this order.
    package func queuedOwners(of name: String, timeout: Duration?) async throws(BusError) -> [String] {
        let message = makeBusCall("ListQueuedOwners")
        message.append(name)
        return try await call(message, timeout: timeout).read([String].self)
    }

    /// The process behind a name; throws `NameHasNoOwner` if there is none.
    package func process(of name: String, timeout: Duration?) async throws(BusError) -> Int32 {
        let message = makeBusCall("GetConnectionUnixProcessID")
        message.append(name)
        let process = try await call(message, timeout: timeout).read(UInt32.self)
        guard let process = Int32(exactly: process), process > 0 else {
            throw BusError(.failed, "the bus answered with an invalid process")
        }
        return process
    }

    /// The unique names of all connections on the bus.
    package func connectionNames() async throws(BusError) -> [String] {
        let names = try await call(makeBusCall("ListNames")).read([String].self)
        return names.filter { $0.hasPrefix(":") && Connection.isName($0) }
    }

    /// Activates the service of a name; returns once it owns the name.
    ///
    /// Throws `ServiceUnknown` if there is no service file, and an error below `org.freedesktop.DBus.Error.Spawn` if
    /// the program does not start. The bus has a time limit of its own.
    package func startService(_ name: String, timeout: Duration? = .seconds(25)) async throws(BusError) {
        let message = makeBusCall("StartServiceByName")
        message.append(name, UInt32(0))
        _ = try await call(message, timeout: timeout)
    }

    /// Calls the handler with the current owner of a name once the bus has replied, and then with every new owner.
    ///
    /// Nil means no owner. The handler never gets the same owner twice in a row. While the bus does not reply, it gets
    /// nil, and the bus is asked again: the owner may have been there all the time.
    ///
    /// - Parameter timeout: the time after which a bus that has not replied is asked again.
    @discardableResult
    package func followOwner(
        of name: String,
        timeout: Duration = .seconds(25),
        _ handler: @escaping @BusActor (_ owner: String?) -> Void
    ) -> SubscriptionID {
        var known: String??
        var isSignalled = false
        let update: @BusActor (String?) -> Void = { owner in
            guard known != .some(owner) else { return }
            known = .some(owner)
            handler(owner)
        }
        let subscription = subscribe(to: .ownerChanged(of: name)) { message in
            guard let change = OwnerChange(message), change.name == name else { return }
            isSignalled = true
            update(change.owner)
        }
        BusActor.start { [self] in
            var isAnswered = false
            while !isAnswered {
                var owner: String?
                do throws(BusError) {
                    owner = try await self.owner(of: name, timeout: timeout)
                    isAnswered = true
                } catch {
                    guard isOpen else { return }
                    isAnswered = error.name != .noReply
                }
                // A change signalled in the meantime is newer than the reply.
                guard !isSignalled, isSubscribed(subscription) else { return }
                update(owner)
            }
        }
        return subscription
    }

    /// The bus's credentials of the process behind a connection; throws `NameHasNoOwner` if the connection is gone.
    package func credentials(of name: String) async throws(BusError) -> ConnectionCredentials {
        let message = makeBusCall("GetConnectionCredentials")
        message.append(name)
        let reply = try await call(message)
        var reader = reply.makeReader()
        return try ConnectionCredentials(from: &reader)
    }

    /// Makes the first call of every connection; the bus replies with its unique name.
    func sayHello(timeout: Duration) async throws(BusError) -> String {
        try Connection.uniqueName(in: await call(makeBusCall("Hello"), timeout: timeout))
    }

    func makeBusCall(_ member: String) -> Message {
        Message.call(to: SignalMatch.bus, ObjectPath(unchecked: "/org/freedesktop/DBus"), SignalMatch.bus, member)
    }
}

package enum NameRequest {
    package struct Options: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Lets another program take over the name.
        package static let allowReplacement = Options(rawValue: UInt32(DBUS_NAME_FLAG_ALLOW_REPLACEMENT))
        /// Takes over the name from an owner that allows it.
        package static let replaceExisting = Options(rawValue: UInt32(DBUS_NAME_FLAG_REPLACE_EXISTING))
        static let doNotQueue = Options(rawValue: UInt32(DBUS_NAME_FLAG_DO_NOT_QUEUE))
    }

    package enum Outcome: Hashable, Sendable {
        case owner
        case ownedByAnother

        init(code: Int32) {
            self =
                code == DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER || code == DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER
                ? .owner : .ownedByAnother
        }
    }
}

/// The credentials of the process behind a connection, as of when it connected; a bus leaves out those it does not
/// know.
package struct ConnectionCredentials: Sendable {
    /// `ProcessID`; 0 for a process outside of this PID namespace.
    package var processID: UInt32?

    /// `ProcessFD`, a pidfd, which a reused process ID cannot confuse: dbus-daemon from 1.15.8, dbus-broker from 36.
    package var processDescriptor: FileDescriptor?

    /// `UnixUserID`, the effective user.
    package var userID: UInt32?

    /// `LinuxSecurityLabel`, such as an AppArmor profile.
    package var securityLabel: String?

    package init() {}

    /// Throws `InvalidArgs` if an entry of the `a{sv}` has the wrong type.
    package init(from reader: inout Reader) throws(BusError) {
        self.init()
        try reader.readDictionary { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case "ProcessID": processID = try reader.readVariant(of: UInt32.self)
            case "ProcessFD": processDescriptor = try reader.readVariant(of: FileDescriptor.self)
            case "UnixUserID": userID = try reader.readVariant(of: UInt32.self)
            case "LinuxSecurityLabel": securityLabel = try ConnectionCredentials.readLabel(&reader)
            default: reader.skip()
            }
        }
    }

    private static func readLabel(_ reader: inout Reader) throws(BusError) -> String {
        try reader.readVariant { (reader) throws(BusError) in
            try reader.withBytes { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
        }
    }
}
