import CDBus

/// Calls of others, and waiting for their answers.
extension Connection {
    /// Sends a call and waits for the answer.
    ///
    /// - Parameter timeout: how long to wait before failing with `NoReply`; nil waits for ever.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        let reply = await withCheckedContinuation { continuation in
            startCall(message, timeout: timeout) { continuation.resume(returning: $0) }
        }
        guard let reply else { throw Connection.disconnected }
        if let error = reply.error { throw error }
        return reply
    }

    static let disconnected = BusError(.disconnected, "the connection to the bus is closed")

    private func startCall(
        _ message: Message,
        timeout: Duration?,
        completion: @escaping @BusActor (Message?) -> Void
    ) {
        outbox.handOver { [self] in startCallNow(message, timeout: timeout, completion: completion) }
    }

    private func startCallNow(
        _ message: Message,
        timeout: Duration?,
        completion: @escaping @BusActor (Message?) -> Void
    ) {
        var pending: OpaquePointer?
        if isOpen {
            dbus_connection_send_with_reply(
                pointer,
                message.pointer,
                &pending,
                timeout?.clampedMilliseconds ?? keychaind_dbus_timeout_infinite
            )
        }
        guard let pending else { return completion(nil) }
        let call = PendingCall(pending)
        pendingCalls[ObjectIdentifier(call)] = call
        call.start { [weak self] reply in
            self?.pendingCalls[ObjectIdentifier(call)] = nil
            completion(reply)
        }
    }

    /// libdbus forgets the calls that wait when the connection ends.
    func abandonCalls() {
        for call in pendingCalls.values {
            call.abandon()
        }
    }
}
