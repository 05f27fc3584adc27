import CKeychaindDBus

extension Connection {
    /// - Parameter timeout: the time after which the call fails with `NoReply`; nil waits forever.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        let reply = Promise<Message?>()
        outbox.handOver { [self] in start(message, timeout: timeout, delivering: reply) }
        guard let reply = await reply.value() else { throw Connection.disconnected }
        if let error = reply.error { throw error }
        return reply
    }

    nonisolated static let disconnected = BusError(.disconnected, "the connection to the bus is closed")

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

    /// Fails all pending calls, which libdbus drops when the connection ends.
    func abandonCalls() {
        for call in pendingCalls.values {
            call.abandon()
        }
    }
}

/// A call without a reply yet; ends with the reply, on timeout, or by ``abandon()``.
@BusActor
final class PendingCall {
    /// Called once; nil means that no reply will come.
    typealias Completion = @BusActor (Message?) -> Void

    private enum State {
        case made
        case waiting(Completion)
        case ended
    }

    private let pointer: OpaquePointer
    private var state = State.made

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Starts waiting; the caller keeps this object alive until the completion is called.
    func start(completion: @escaping Completion) {
        state = .waiting(completion)
        guard dbus_pending_call_get_completed(pointer) == 0 else { return finish() }
        dbus_pending_call_set_notify(
            pointer,
            { _, context in
                // `nonisolated(unsafe)`: libdbus is only called on the event loop, so it calls back there.
                nonisolated(unsafe) let context = context
                BusActor.assumeIsolated {
                    Unmanaged<PendingCall>.fromOpaque(context!).takeUnretainedValue().finish()
                }
            },
            Unmanaged.passUnretained(self).toOpaque(),
            nil
        )
    }

    func abandon() {
        guard case .waiting = state else { return }
        dbus_pending_call_cancel(pointer)
        end(with: nil)
    }

    private func finish() {
        end(with: dbus_pending_call_steal_reply(pointer).map(Message.init(received:)))
    }

    private func end(with reply: Message?) {
        guard case .waiting(let completion) = state else { return }
        state = .ended
        dbus_pending_call_unref(pointer)
        completion(reply)
    }
}

extension Duration {
    /// Whole milliseconds for libdbus: rounded up, from zero to about 24 days.
    var clampedMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, Int64(Int32.max)) * 1000 + fraction)
    }
}
