import CDBus
import CLinux
import Glibc

/// What is to be sent, in its order.
///
/// Messages gather here during a turn of the loop and leave together, in one system call, which also wakes the bus once rather than
/// for each. libdbus, which would write every message by itself, still sends what needs it: calls that wait for an answer, and
/// what it answers of its own accord. The two share a socket, so neither may write while the other is in the middle of a message:
/// this waits while libdbus has something queued, and the connection does not let libdbus act while this ``isBlocked``.
@BusActor
final class Outbox {
    private enum Entry {
        case message(OutgoingMessage)
        /// Something for libdbus to send, once all before it has left.
        case handover(@BusActor () -> Void)
    }

    /// Bytes that a turn of the loop may gather; below what the kernel takes in one piece.
    private static let gatheringLimit = 32 << 10
    private static let messagesPerWrite = 64

    private let connection: OpaquePointer
    /// A duplicate of libdbus's, so that the event loop can watch both.
    private let descriptor: Int32
    private var entries: [Entry] = []
    /// Where the kernel is told what to write.
    ///
    /// `nonisolated(unsafe)`: it is written to on the loop's thread only, and freed by whoever lets go of this object last.
    nonisolated(unsafe) private let pieces: UnsafeMutablePointer<iovec>
    /// How much of the first message has left.
    private var sent = 0
    private var serial = Outbox.firstSerial

    /// libdbus numbers its messages from 1; those of the other half of the numbers are never answered.
    private static let firstSerial: UInt32 = 1 << 31

    /// How many bytes wait to be sent.
    private(set) var size = 0

    /// Whether the bus has to read before more can be sent.
    private(set) var isBlocked = false

    /// Makes the outbox of a connection; throws `LimitsExceeded` if this process may have no more descriptors.
    init(of connection: OpaquePointer) throws(BusError) {
        var socket: Int32 = -1
        dbus_connection_get_socket(connection, &socket)
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "no descriptor is left for the bus") }
        self.connection = connection
        self.descriptor = descriptor
        pieces = .allocate(capacity: 2 * Outbox.messagesPerWrite)
    }

    deinit { pieces.deallocate() }

    /// A number for the next message.
    func nextSerial() -> UInt32 {
        serial = serial &+ 1 | Outbox.firstSerial
        return serial
    }

    /// Adds a message, to leave at the next ``flush()``; at once if much has been gathered.
    func append(_ message: OutgoingMessage) {
        entries.append(.message(message))
        size += message.size
        if size > Outbox.gatheringLimit, !isBlocked { flush() }
    }

    /// Lets libdbus send something as soon as everything before it has left, which mostly is at once.
    ///
    /// The action is run in any case: after ``close()``, if the connection ends before.
    func handOver(_ action: @escaping @BusActor () -> Void) {
        flush()
        guard !entries.isEmpty else { return action() }
        entries.append(.handover(action))
    }

    /// Sends what there is, as far as the socket takes it.
    func flush() {
        while let first = entries.first {
            // What libdbus has queued for a bus that has gone stays there for ever.
            guard
                dbus_connection_has_messages_to_send(connection) == 0
                    || dbus_connection_get_is_connected(connection) == 0
            else { return }
            switch first {
            case .handover(let action):
                entries.removeFirst()
                action()
            case .message:
                guard write() else { return block() }
            }
        }
        unblock()
    }

    /// Sends what there is, libdbus's too, and waits for a time until all of it has left.
    func drain(for time: Duration) {
        let clock = LoopClock.suspending
        let deadline = clock.instant(after: time)
        flush()
        while hasMore, case let rest = clock.milliseconds(until: deadline), rest > 0 {
            if dbus_connection_has_messages_to_send(connection) != 0 {
                dbus_connection_read_write(connection, rest)
            } else {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, rest)
            }
            flush()
        }
    }

    /// Whether anything is left to send to a bus that has not gone.
    private var hasMore: Bool {
        guard dbus_connection_get_is_connected(connection) != 0 else { return false }
        return !entries.isEmpty || dbus_connection_has_messages_to_send(connection) != 0
    }

    /// Forgets what has not been sent, of a connection that is not open any more.
    func close() {
        unblock()
        Glibc.close(descriptor)
        let rest = entries
        (entries, sent, size) = ([], 0, 0)
        for case .handover(let action) in rest {
            action()
        }
    }

    // MARK: Writing

    /// Writes the messages up to the next handover; false if the socket takes nothing now.
    private func write() -> Bool {
        var (index, count, skipped) = (0, 0, sent)
        while index < min(entries.count, Outbox.messagesPerWrite), case .message(let message) = entries[index] {
            let (header, body) = message.rest(after: skipped)
            pieces[count] = Outbox.piece(header)
            pieces[count + 1] = Outbox.piece(body)
            (index, count, skipped) = (index + 1, count + 2, 0)
        }
        var packet = msghdr()
        packet.msg_iov = pieces
        packet.msg_iovlen = count
        let written = sendmsg(descriptor, &packet, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        guard written < 0 else {
            removeSent(written)
            return true
        }
        switch errno {
        case EINTR: return true
        case EAGAIN: return false
        default:
            // The bus has gone, as libdbus will find out when it reads.
            entries.removeAll { if case .message = $0 { true } else { false } }
            (sent, size) = (0, 0)
            return true
        }
    }

    private static func piece(_ bytes: UnsafeRawBufferPointer) -> iovec {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    private func removeSent(_ written: Int) {
        sent += written
        size -= written
        if size == 0, entries.count == 1 {
            // As it mostly is; then nothing has to be counted or moved up.
            sent = 0
            return entries.removeAll(keepingCapacity: true)
        }
        var gone = 0
        for case .message(let message) in entries {
            guard sent >= message.size else { break }
            sent -= message.size
            gone += 1
        }
        entries.removeFirst(gone)
    }

    private func block() {
        guard !isBlocked else { return }
        isBlocked = true
        // It only has to wake the loop, which flushes in every turn.
        BusActor.loop.watch(descriptor, for: keychaind_epoll_out) { _ in }
    }

    private func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        BusActor.loop.unwatch(descriptor)
        // The messages held back meanwhile are already read from the socket: nothing else wakes the loop for them.
        BusActor.loop.turnAgain()
    }
}
