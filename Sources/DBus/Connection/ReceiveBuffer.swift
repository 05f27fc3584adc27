import CDBus

/// The buffer into which libdbus reads the messages of a connection, and in which the bytes of the last ones stay.
///
/// libdbus keeps up to 2 KiB of it and has no function to clear it. So the connection sends itself a signal of zeros that is
/// longer than that: reading it overwrites the buffer, and makes libdbus free all of it but the first bytes.
@BusActor
final class ReceiveBuffer {
    private enum State {
        /// No message with bytes in it has been read since it was overwritten.
        case clean
        /// It is overwritten when the timer runs out.
        case used(Timer)
    }

    /// How long the bytes of a message may stay: at most four signals a second are sent, however many messages come.
    private static let delay = Duration.milliseconds(250)
    /// Bytes of a signal: four times what libdbus reads at once, and what it keeps.
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

    /// Schedules the overwriting if a message that was read into the buffer may have a secret in it.
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
    /// Overwrites the receive buffer, from now on, within a quarter of a second after a message with byte arrays.
    ///
    /// Copies remain unless the process overwrites freed memory: libdbus moves the buffer when it grows.
    package func wipeReceiveBuffer() {
        if receiveBuffer == nil { receiveBuffer = ReceiveBuffer(of: self) }
    }
}
