import CDBus

/// A call whose answer has not come yet; ends itself when it comes, times out, or the bus goes.
@BusActor
final class PendingCall {
    private let pointer: OpaquePointer
    private let completion: @BusActor (Message?) -> Void

    /// Takes over libdbus's reference.
    init(_ pointer: OpaquePointer, completion: @escaping @BusActor (Message?) -> Void) {
        self.pointer = pointer
        self.completion = completion
    }

    /// Waits; this object stays until `completion` has been called, once.
    func start() {
        guard dbus_pending_call_get_completed(pointer) == 0 else { return finish() }
        dbus_pending_call_set_notify(
            pointer,
            { _, context in
                nonisolated(unsafe) let context = context
                BusActor.assumeIsolated {
                    Unmanaged<PendingCall>.fromOpaque(context!).takeRetainedValue().finish()
                }
            },
            Unmanaged.passRetained(self).toOpaque(),
            nil
        )
    }

    private func finish() {
        let reply = dbus_pending_call_steal_reply(pointer).map(Message.init(owning:))
        dbus_pending_call_unref(pointer)
        completion(reply)
    }
}
