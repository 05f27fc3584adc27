import CDBus

/// What is sent and not waited for.
extension Connection {
    /// Sends a message, in this turn of the loop if the socket takes it.
    package func send(_ message: Message) {
        guard isOpen else { return }
        guard !message.hasDescriptors else {
            return outbox.handOver { [self] in
                if isOpen { dbus_connection_send(pointer, message.pointer, nil) }
            }
        }
        outbox.append(OutgoingMessage(copying: message, serial: outbox.nextSerial()))
    }

    /// Sends a message that holds a secret; its bytes are overwritten.
    package func sendWiping(_ message: Message) {
        send(message)
        message.wipeByteArrays()
    }

    /// Sends a signal with the values that the closure writes.
    package func emit(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        to destination: String? = nil,
        _ values: (inout Writer) -> Void
    ) {
        marshal(.signal(path, interface: interface, member: member, to: destination), values)
    }

    /// Sends the signal that tells of changed properties.
    ///
    /// - Parameter entries: writes the entries of an `a{sv}`.
    package func emitPropertiesChanged(
        _ path: ObjectPath,
        _ interface: String,
        to destination: String? = nil,
        _ entries: (inout Writer) -> Void
    ) {
        emit(path, StandardInterface.properties, "PropertiesChanged", to: destination) { writer in
            interface.write(to: &writer)
            writer.writeArray(of: "{sv}", entries)
            [String]().write(to: &writer)
        }
    }

    /// Sends the answer to a call; everything in it is overwritten once it has left.
    func answer(_ call: MethodCall, failing error: ErrorName? = nil, _ values: (inout Writer) -> Void) {
        let serial = dbus_message_get_serial(call.message.pointer)
        marshal(.answer(to: serial, of: call.peer.name, error: error), values)
    }

    private func marshal(_ header: MessageHeader, _ values: (inout Writer) -> Void) {
        guard isOpen else { return }
        var writer = Writer(beginning: Marshaller(header, serial: outbox.nextSerial()))
        values(&writer)
        if let message = writer.finish() { outbox.append(message) } else { refuse(header) }
    }

    /// Sends an error for an answer that is too long, and nothing for a signal: the bus would close the connection.
    private func refuse(_ header: MessageHeader) {
        switch header {
        case .answer(let serial, let caller, _):
            marshal(.answer(to: serial, of: caller, error: .limitsExceeded)) { writer in
                "the answer is longer than a message may be".write(to: &writer)
            }
        case .signal(_, let interface, let member, _):
            onOversizedSignal?("\(interface).\(member)")
        }
    }
}
