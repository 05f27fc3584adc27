import CKeychaindDBus
import KeychaindDBus

/// A bus client on plain libdbus, the thinnest there is; it does one thing at a time.
final class BusClient {
    private static let timeout: Int32 = 120_000

    private let connection: OpaquePointer

    /// Connects to a bus.
    init(_ address: String) throws(BenchmarkError) {
        guard let connection = dbus_connection_open_private(address, nil) else {
            throw BenchmarkError(reason: "there is no bus at \(address)")
        }
        dbus_connection_set_exit_on_disconnect(connection, 0)
        guard dbus_bus_register(connection, nil) != 0 else {
            throw BenchmarkError(reason: "the bus refused the connection")
        }
        self.connection = connection
    }

    deinit {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    /// Makes a call and waits for the reply.
    func call(_ message: Message) throws(BenchmarkError) -> Message {
        try timedCall(message).reply
    }

    /// Makes a call and returns its duration, without building the message and reading the reply.
    func timedCall(_ message: Message) throws(BenchmarkError) -> (reply: Message, duration: Duration) {
        var error = DBusError()
        dbus_error_init(&error)
        let start = ContinuousClock.now
        let reply = dbus_connection_send_with_reply_and_block(connection, message.pointer, BusClient.timeout, &error)
        let duration = ContinuousClock.now - start
        guard let reply else {
            defer { dbus_error_free(&error) }
            let name = message.member ?? ""
            throw BenchmarkError(
                reason: "\(name) fails: \(String(cString: error.name)): \(String(cString: error.message))"
            )
        }
        return (Message(owning: reply), duration)
    }

    /// Makes calls with a constant number in flight, and returns the total time and the replies in call order.
    func timedCalls(_ messages: [Message], inFlight: Int) throws(BenchmarkError) -> (
        replies: [Message], duration: Duration
    ) {
        var replies: [Message] = []
        replies.reserveCapacity(messages.count)
        var rest = messages[...]
        let start = ContinuousClock.now
        for message in rest.prefix(inFlight) { dbus_connection_send(connection, message.pointer, nil) }
        rest = rest.dropFirst(inFlight)
        while replies.count < messages.count {
            guard dbus_connection_read_write(connection, -1) != 0 else {
                throw BenchmarkError(reason: "the connection to the bus was lost")
            }
            while let reply = dbus_connection_pop_message(connection) {
                let message = Message(owning: reply)
                // Skips signals between the replies.
                guard dbus_message_get_reply_serial(reply) != 0 else { continue }
                replies.append(message)
                if let next = rest.popFirst() { dbus_connection_send(connection, next.pointer, nil) }
            }
        }
        let duration = ContinuousClock.now - start
        if let error = replies.lazy.compactMap(\.error).first { throw BenchmarkError(reason: "\(error)") }
        // Changes from one batch may be answered in another order.
        replies.sort { dbus_message_get_reply_serial($0.pointer) < dbus_message_get_reply_serial($1.pointer) }
        return (replies, duration)
    }

    /// Runs a prompt that needs no person, and returns its `Completed` with the time that it took.
    func timedCompletion(of prompt: ObjectPath) throws(BenchmarkError) -> (signal: Message, duration: Duration) {
        let rule = "type='signal',interface='\(SecretName.prompt)',path='\(prompt.rawValue)'"
        dbus_bus_add_match(connection, rule, nil)
        defer { dbus_bus_remove_match(connection, rule, nil) }
        let call = Message.call(to: SecretName.bus, prompt, SecretName.prompt, "Prompt")
        call.append("")
        let start = ContinuousClock.now
        let end = start + .milliseconds(BusClient.timeout)
        dbus_connection_send(connection, call.pointer, nil)
        // The wait of libdbus ends without a message, too.
        while ContinuousClock.now < end, dbus_connection_read_write(connection, BusClient.timeout) != 0 {
            while let pointer = dbus_connection_pop_message(connection) {
                let message = Message(owning: pointer)
                if let error = message.error { throw BenchmarkError(reason: "\(error)") }
                guard dbus_message_is_signal(pointer, SecretName.prompt, "Completed") != 0 else { continue }
                return (message, ContinuousClock.now - start)
            }
        }
        throw BenchmarkError(reason: "the prompt did not complete, or the connection to the bus was lost")
    }

    /// Keeps calls in flight until the connection is lost, whatever their answers are.
    ///
    /// - Parameter name: requested once the first `depth` calls are answered.
    func flood(depth: Int, owning name: String, with call: Message) throws(BenchmarkError) {
        for _ in 0..<depth { send(copyOf: call) }
        var answers = 0
        while dbus_connection_read_write(connection, -1) != 0 {
            while let reply = dbus_connection_pop_message(connection) {
                defer { dbus_message_unref(reply) }
                guard dbus_message_get_reply_serial(reply) != 0 else { continue }
                send(copyOf: call)
                answers += 1
                if answers == depth { requestName(name) }
            }
        }
    }

    /// Does not wait for the answer of the bus.
    private func requestName(_ name: String) {
        let request = Message.call(
            to: "org.freedesktop.DBus",
            ObjectPath(unchecked: "/org/freedesktop/DBus"),
            "org.freedesktop.DBus",
            "RequestName"
        )
        request.append(name, UInt32(0))
        request.expectNoReply()
        dbus_connection_send(connection, request.pointer, nil)
    }

    private func send(copyOf message: Message) {
        guard let copy = dbus_message_copy(message.pointer) else { return }
        dbus_connection_send(connection, copy, nil)
        dbus_message_unref(copy)
    }

    /// Waits until a name has an owner.
    func waitForOwner(of name: String) throws(BenchmarkError) {
        let rule = "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
        dbus_bus_add_match(connection, rule, nil)
        defer { dbus_bus_remove_match(connection, rule, nil) }
        while dbus_bus_name_has_owner(connection, name, nil) == 0 {
            guard dbus_connection_read_write(connection, 10_000) != 0 else {
                throw BenchmarkError(reason: "the connection to the bus was lost")
            }
            while let message = dbus_connection_pop_message(connection) { dbus_message_unref(message) }
        }
    }
}
