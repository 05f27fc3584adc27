import CDBus

/// A call whose answer has not come yet; ends when it comes or times out, or is abandoned.
@BusActor
final class PendingCall {
    /// Called once; nil if there will be no answer.
    typealias Completion = @BusActor (Message?) -> Void

    private enum State {
        case made
        case waiting(Completion)
        case ended
    }

    private let pointer: OpaquePointer
    private var state = State.made

    /// Takes over libdbus's reference.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Waits; whoever starts the call has to keep this object until the completion has been called.
    func start(completion: @escaping Completion) {
        state = .waiting(completion)
        guard dbus_pending_call_get_completed(pointer) == 0 else { return finish() }
        dbus_pending_call_set_notify(
            pointer,
            { _, context in
                // `nonisolated(unsafe)`: the loop's thread is the only one that calls libdbus, and so the one that libdbus calls back;
                // nothing is sent to another.
                nonisolated(unsafe) let context = context
                BusActor.assumeIsolated {
                    Unmanaged<PendingCall>.fromOpaque(context!).takeUnretainedValue().finish()
                }
            },
            Unmanaged.passUnretained(self).toOpaque(),
            nil
        )
    }

    /// Waits no longer.
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
