import CKeychaindDBus
import CKeychaindLinux
import Glibc

/// The queue of outgoing messages.
///
/// Messages gather during a turn of the loop and leave in one system call, which also wakes the bus once. libdbus,
/// which would write each message by itself, still sends calls that expect a reply and its own replies. Both share a
/// socket, and neither may write while the other is in the middle of a message: the outbox waits while libdbus has
/// messages queued, and libdbus answers no calls while the outbox ``isBlocked``. What is queued in that time leaves in
/// turn between the receivers.
@BusActor
final class Outbox {
    /// The most bytes that gather during a turn before they are written.
    private static let gatheringLimit = 32 << 10
    private static let messagesPerWrite = 64
    /// A size for the kernel, which takes twice as much.
    private enum SocketBuffer: CInt {
        /// So that an answer leaves soon after it is queued: the bus takes some 20 µs for each small message before it.
        case short = 0x2000
        /// While the rest of a large message goes first anyway; with a short one, the bus would wait for this process
        /// a hundred times in each 1.6 MB.
        case long = 0x40000

        /// The bytes of a message that are left to write from which a buffer is long.
        static let largeRest = 128 << 10
    }

    private let connection: OpaquePointer
    /// A duplicate of libdbus's descriptor, so that the event loop can watch both.
    private let descriptor: Int32
    /// What is written next, in this order.
    private var entries: [OutgoingEntry] = []
    /// What was queued while the socket was full; it follows the entries.
    private var backlog = OutgoingBacklog()
    /// The buffers for `sendmsg`.
    ///
    /// `nonisolated(unsafe)`: only the event loop writes to it; deinit frees it.
    nonisolated(unsafe) private let pieces: UnsafeMutablePointer<iovec>
    /// The bytes of the first message that were written.
    private var sent = 0
    private var serial = Outbox.firstSerial

    /// libdbus numbers its messages from 1; these are in the upper half and get no reply.
    private static let firstSerial: UInt32 = 1 << 31

    private(set) var size = 0

    /// All bytes that have left the queue.
    private(set) var written = 0

    /// Nil for the size that the system has chosen.
    private var socketBuffer: SocketBuffer?

    private(set) var isBlocked = false

    /// Whether a ``flush()`` has nothing to write.
    private(set) var isEmpty = true

    /// Throws `LimitsExceeded` if this process has no descriptors left.
    init(of connection: OpaquePointer) throws(BusError) {
        var socket: Int32 = -1
        dbus_connection_get_socket(connection, &socket)
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw BusError(.limitsExceeded, "the process has no descriptors left for the bus")
        }
        self.connection = connection
        self.descriptor = descriptor
        pieces = .allocate(capacity: 2 * Outbox.messagesPerWrite)
    }

    deinit { pieces.deallocate() }

    func nextSerial() -> UInt32 {
        serial = serial &+ 1 | Outbox.firstSerial
        return serial
    }

    /// Queues a message for the next ``flush()``, which follows at once if much has gathered.
    func append(_ message: OutgoingMessage) {
        enqueue(.message(message))
        size += message.size
        if size > Outbox.gatheringLimit, !isBlocked { flush() }
    }

    /// Runs an action by which libdbus sends, once everything before it was written: at the latest in ``close()``.
    func handOver(_ action: @escaping @BusActor () -> Void) {
        flush()
        guard !entries.isEmpty else { return action() }
        enqueue(.handover(action))
    }

    private func enqueue(_ entry: OutgoingEntry) {
        isEmpty = false
        if isBlocked || !backlog.isEmpty { backlog.append(entry) } else { entries.append(entry) }
    }

    /// Writes as much of the queue as the socket accepts.
    func flush() {
        while let first = nextEntry() {
            // libdbus never empties its queue for a bus that is gone.
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
        isEmpty = true
        unblock()
    }

    private func nextEntry() -> OutgoingEntry? {
        if entries.isEmpty, !backlog.isEmpty { entries = backlog.takeNext() }
        return entries.first
    }

    /// Writes the queue, and that of libdbus, blocking for a limited time.
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

    /// Whether anything is queued for a bus that is still there.
    private var hasMore: Bool {
        guard dbus_connection_get_is_connected(connection) != 0 else { return false }
        return !entries.isEmpty || dbus_connection_has_messages_to_send(connection) != 0
    }

    /// Drops the queue of a closed connection and runs the pending actions.
    func close() {
        unblock()
        Glibc.close(descriptor)
        let rest = entries + backlog.takeAll()
        (entries, sent, size, isEmpty) = ([], 0, 0, true)
        for case .handover(let action) in rest {
            action()
        }
    }

    /// Keeps few bytes in the kernel.
    func shortenSocketBuffer() {
        set(.short)
    }

    private func set(_ buffer: SocketBuffer) {
        socketBuffer = buffer
        var size = buffer.rawValue
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Lengthens the buffer for a large message, and shortens it again after it.
    private func fitSocketBuffer(to rest: Int) {
        guard let socketBuffer else { return }
        let wanted: SocketBuffer = rest > SocketBuffer.largeRest ? .long : .short
        if wanted != socketBuffer { set(wanted) }
    }

    /// Whether the bus has sent more than was read.
    var hasInput: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLIN) != 0
    }

    // MARK: Writing

    /// Writes the messages before the next handover; returns false if the socket is full.
    private func write() -> Bool {
        if case .message(let first) = entries.first { fitSocketBuffer(to: first.size - sent) }
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
            // The bus is gone; libdbus notices when it reads.
            entries += backlog.takeAll()
            entries.removeAll { if case .message = $0 { true } else { false } }
            self.written += size
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
        self.written += written
        if size == 0, entries.count == 1 {
            // The usual case needs no counting or moving.
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
        // The event only wakes the loop, which flushes in every turn.
        BusActor.loop.watch(descriptor, for: keychaind_epoll_out) { _ in }
    }

    private func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        BusActor.loop.unwatch(descriptor)
        // Messages held back meanwhile are already read from the socket: nothing else wakes the loop for them.
        BusActor.loop.turnAgain()
    }
}
