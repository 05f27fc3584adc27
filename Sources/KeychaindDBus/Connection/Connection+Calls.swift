import CKeychaindDBus

extension Connection {
    /// - Parameter timeout: the time after which the call fails with `NoReply`; nil waits forever.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        let promise = Promise<Result<Message, BusError>>()
        outbox.handOver { [self] in start(message, timeout: timeout, delivering: promise) }
        let reply = try await promise.value().get()
        if let error = reply.error { throw error }
        return reply
    }

    static let disconnected = BusError(.disconnected, "the connection to the bus is closed")

    private func start(_ message: Message, timeout: Duration?, delivering reply: Promise<Result<Message, BusError>>) {
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
            reply.fulfill(.failure(Connection.disconnected))
            return
        }
        let serial = message.serial
        let call = PendingCall(pending, to: message.destination, timeout: timeout)
        pendingCalls[serial] = call
        call.start { [weak self] result in
            self?.pendingCalls[serial] = nil
            reply.fulfill(result)
        }
    }

    /// Whether a message of any type has the serial of a call, and is from another program than was called.
    ///
    /// libdbus looks only at the serial, which others can guess. A session bus passes replies to no call.
    func isForgedReply(_ message: OpaquePointer) -> Bool {
        let serial = dbus_message_get_reply_serial(message)
        guard serial != 0, let call = pendingCalls[serial], !Message.isReply(message, of: call.destination) else {
            return false
        }
        call.keepTime()
        return true
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
    /// Called once; an error means that no reply will come.
    typealias Completion = @BusActor (Result<Message, BusError>) -> Void

    private enum State {
        case made
        case waiting(Completion)
        case ended
    }

    let destination: String

    private let pointer: OpaquePointer
    private let timeout: Duration?
    private var timer: Timer?
    private var state = State.made

    init(_ pointer: OpaquePointer, to destination: String, timeout: Duration?) {
        self.pointer = pointer
        self.destination = destination
        self.timeout = timeout
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
        giveUp(Connection.disconnected)
    }

    /// Ends the call in time although libdbus has dropped its own timeout, as it does for a forged reply, too.
    func keepTime() {
        guard case .waiting = state, timer == nil, let timeout else { return }
        timer = BusActor.loop.schedule(afterWaking: timeout) { [weak self] in
            self?.giveUp(BusError(.noReply, "no reply in time"))
        }
    }

    private func giveUp(_ error: BusError) {
        guard case .waiting = state else { return }
        dbus_pending_call_cancel(pointer)
        end(with: .failure(error))
    }

    private func finish() {
        let reply = dbus_pending_call_steal_reply(pointer).map(Message.init(received:))
        end(with: reply.map { .success($0) } ?? .failure(Connection.disconnected))
    }

    private func end(with result: Result<Message, BusError>) {
        guard case .waiting(let completion) = state else { return }
        state = .ended
        timer.map(BusActor.loop.cancel)
        dbus_pending_call_unref(pointer)
        completion(result)
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
