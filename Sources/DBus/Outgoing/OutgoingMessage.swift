import CDBus
import CLinux

/// A message as it travels; its memory is overwritten when this object goes.
package final class OutgoingMessage {
    private let header: WireBuffer
    private let body: WireBuffer

    /// Takes over what was marshalled here.
    init(header: consuming WireBuffer, body: consuming WireBuffer) {
        self.header = header
        self.body = body
    }

    /// Copies one of libdbus's messages, as it is now.
    ///
    /// - Parameter serial: what the message is numbered with, unless it has a number.
    init(copying message: Message, serial: UInt32) {
        if dbus_message_get_serial(message.pointer) == 0 {
            dbus_message_set_serial(message.pointer, serial)
        }
        var start: UnsafeMutablePointer<CChar>?
        var size: Int32 = 0
        guard dbus_message_marshal(message.pointer, &start, &size) != 0, let start else {
            preconditionFailure("out of memory")
        }
        let marshalled = UnsafeRawBufferPointer(start: start, count: Int(size))
        var copy = WireBuffer(capacity: marshalled.count)
        copy.append(contentsOf: marshalled)
        explicit_bzero(start, marshalled.count)
        dbus_free(start)
        header = copy
        body = WireBuffer(capacity: 0)
    }

    /// Bytes, the header included.
    package var size: Int { header.count + body.count }

    /// What is left behind a number of bytes, in two pieces, of which either may be empty; valid as long as this object.
    func rest(after sent: Int) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        let skipped = min(sent, header.count)
        return (
            UnsafeRawBufferPointer(rebasing: header.bytes[skipped...]),
            UnsafeRawBufferPointer(rebasing: body.bytes[(sent - skipped)...])
        )
    }
}
