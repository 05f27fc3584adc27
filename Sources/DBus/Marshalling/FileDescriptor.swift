import CDBus
import Glibc

/// A descriptor that is passed over the bus, an `h`; it is closed when this object goes.
///
/// What is read from a message is a duplicate of the message's, and what is written to one is duplicated, so that each side closes
/// its own. All are closed when another program is started.
package final class FileDescriptor: BusValue, Sendable {
    /// The number, of which this object keeps the ownership.
    package let rawValue: Int32

    /// Takes a descriptor over.
    package init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        close(rawValue)
    }

    package static var signature: String { "h" }

    /// Duplicates the descriptor at the reader; throws `LimitsExceeded` if this process may have no more.
    package init(from reader: inout Reader) throws(BusError) {
        var descriptor: Int32 = -1
        try reader.readBasic(keychaind_dbus_type_unix_fd, into: &descriptor)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be taken") }
        rawValue = descriptor
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_unix_fd, rawValue)
    }
}
