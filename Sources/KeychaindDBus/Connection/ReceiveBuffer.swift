import CKeychaindDBus

/// Overwrites the buffer into which libdbus reads the messages of a connection.
///
/// libdbus keeps up to 2 KiB of it and has no function to clear it. So the connection sends itself a longer signal of
/// zeros: reading it overwrites the buffer and makes libdbus free all but the first bytes.
@BusActor
final class ReceiveBuffer {
    private enum State {
        /// No message with byte arrays was read since the last overwrite.
        case clean
        /// Overwritten when the timer fires.
        case used(Timer)
    }

    /// How long the bytes of a message may stay; it limits the signals to four a second.
    private static let delay = Duration.milliseconds(250)
    /// The size of the signal in bytes: four times what libdbus reads at once and keeps.
    private static let size = 8 << 10

    private static let path = ObjectPath(unchecked: "/org/keychaind/Memory")
    private static let interface = "org.keychaind.Memory"

    private unowned let connection: Connection
    private var state = State.clean

    init(of connection: Connection) {
        self.connection = connection
    }

    isolated deinit {
        if case .used(let timer) = state { BusActor.loop.cancel(timer) }
    }

    /// Schedules an overwrite if the message may hold a secret.
    func note(_ message: OpaquePointer) {
        guard case .clean = state, Message.mayHoldByteArrays(message),
            dbus_message_has_interface(message, ReceiveBuffer.interface) == 0
        else { return }
        state = .used(BusActor.loop.schedule(after: ReceiveBuffer.delay) { [weak self] in self?.overwrite() })
    }

    private func overwrite() {
        state = .clean
        connection.emit(ReceiveBuffer.path, ReceiveBuffer.interface, "Overwrite", to: connection.uniqueName) { writer in
            ByteArray([UInt8](repeating: 0, count: ReceiveBuffer.size)).write(to: &writer)
        }
    }
}

extension Connection {
    /// Overwrites the receive buffer within a quarter of a second after each message with byte arrays.
    ///
    /// libdbus moves the buffer when it grows, so copies remain unless the process wipes freed memory.
    package func wipeReceiveBuffer() {
        if receiveBuffer == nil { receiveBuffer = ReceiveBuffer(of: self) }
    }
}
