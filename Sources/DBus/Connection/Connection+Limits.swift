import CDBus

/// What other programs on the bus may make a connection hold.
extension Connection {
    /// The most descriptors that a message may bring: as many as the kernel passes at once (SCM_MAX_FD).
    ///
    /// libdbus takes a message with more than it expects for the end of the connection, and with it of the service.
    private static let descriptorsPerMessage = 253

    /// Bytes that wait to be sent, past which no further message is handled until the bus has read some.
    private static let outgoingLimit = 16 << 20

    /// Keeps the process from running out of descriptors: libdbus alone would let others have it hold thousands.
    func limitDescriptors() {
        dbus_connection_set_max_message_unix_fds(pointer, Connection.descriptorsPerMessage)
        // Past this libdbus reads nothing more until messages have been handled.
        dbus_connection_set_max_received_unix_fds(pointer, Connection.descriptorsPerMessage)
    }

    /// How many bytes wait to be sent.
    package var bytesToSend: Int { Int(dbus_connection_get_outgoing_size(pointer)) + outbox.size }

    /// Whether what is handled next may add to what waits to be sent.
    ///
    /// A program that calls faster than the bus takes the answers would otherwise fill the memory with them. What it has sent
    /// waits unread meanwhile, for libdbus reads no more than 63 MiB ahead.
    var mayAddAnswers: Bool { !outbox.isBlocked && bytesToSend < Connection.outgoingLimit }

    /// Waits until the bus has read most of what is queued, or the connection is closed.
    ///
    /// For suspended calls that make large messages.
    package func waitForRoom() async {
        guard isOpen, !mayAddAnswers else { return }
        let room = room ?? Promise()
        self.room = room
        await room.wait()
    }

    func resumeWaitersForRoom() {
        guard let room, !isOpen || mayAddAnswers else { return }
        self.room = nil
        room.fulfill()
    }
}
