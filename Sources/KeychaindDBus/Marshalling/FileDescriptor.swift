import CKeychaindDBus
import Glibc

/// An owned descriptor, passed as an `h`; closed on deinit.
///
/// Reading and writing duplicate it, so that each side closes its own. Every duplicate is close-on-exec.
package final class FileDescriptor: BusValue, Sendable {
    package let rawValue: Int32

    package init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        close(rawValue)
    }

    package static var signature: String { "h" }

    /// Throws `LimitsExceeded` if this process has no descriptors left.
    package init(from reader: inout Reader) throws(BusError) {
        var descriptor: Int32 = -1
        try reader.readBasic(keychaind_dbus_type_unix_fd, into: &descriptor)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the process has no descriptors left") }
        rawValue = descriptor
    }

    package func write(to writer: inout Writer) {
        writer.writeBasic(keychaind_dbus_type_unix_fd, rawValue)
    }
}
