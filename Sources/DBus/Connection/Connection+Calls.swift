import CDBus

/// Calls of others, and waiting for their answers.
extension Connection {
    /// Sends a call and waits for the answer.
    ///
    /// - Parameter timeout: how long to wait before failing with `NoReply`; nil waits for ever.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        let reply = Promise<Message?>()
        outbox.handOver { [self] in start(message, timeout: timeout, delivering: reply) }
        guard let reply = await reply.value() else { throw Connection.disconnected }
        if let error = reply.error { throw error }
        return reply
    }

    static let disconnected = BusError(.disconnected, "the connection to the bus is closed")

    private func start(_ message: Message, timeout: Duration?, delivering reply: Promise<Message?>) {
        var pending: OpaquePointer?
        if isOpen {
            dbus_connection_send_with_reply(
                pointer,
                message.pointer,
                &pending,
                timeout?.clampedMilliseconds ?? keychaind_dbus_timeout_infinite
            )
        }
        guard let pending else {
            reply.fulfill(nil)
            return
        }
        let call = PendingCall(pending)
        pendingCalls[ObjectIdentifier(call)] = call
        call.start { [weak self] message in
            self?.pendingCalls[ObjectIdentifier(call)] = nil
            reply.fulfill(message)
        }
    }

    /// libdbus forgets the calls that wait when the connection ends.
    func abandonCalls() {
        for call in pendingCalls.values {
            call.abandon()
        }
    }
}
