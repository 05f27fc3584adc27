import CKeychaindDBus
import Glibc

/// The cheapest possible service on libdbus; no provider on libdbus can be faster.
///
/// libdbus itself answers `Peer.Ping`; `Echo` returns 100 bytes for any call, or as many as its path says.
enum FloorService {
    static let busName = "org.keychaind.Floor"
    static let interface = "org.keychaind.Floor"

    static let path = "/org/keychaind/Floor"

    private static let size: Int32 = 100
    private static let largestSize: Int32 = 16 << 20

    /// Serves until the bus disappears.
    static func run() throws {
        guard let connection = dbus_bus_get(DBUS_BUS_SESSION, nil),
            dbus_bus_request_name(connection, busName, 0, nil) == 1
        else { throw BenchmarkError(reason: "the floor service cannot own its name") }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(largestSize))
        bytes.initialize(repeating: 0x2a, count: Int(largestSize))
        dbus_connection_add_filter(
            connection,
            { connection, message, bytes in
                guard dbus_message_is_method_call(message, FloorService.interface, "Echo") != 0 else {
                    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
                }
                let reply = dbus_message_new_method_return(message)
                var (arguments, elements) = (DBusMessageIter(), DBusMessageIter())
                var start = bytes
                dbus_message_iter_init_append(reply, &arguments)
                dbus_message_iter_open_container(&arguments, keychaind_dbus_type_array, "y", &elements)
                dbus_message_iter_append_fixed_array(
                    &elements,
                    keychaind_dbus_type_byte,
                    &start,
                    FloorService.size(for: message)
                )
                dbus_message_iter_close_container(&arguments, &elements)
                dbus_connection_send(connection, reply, nil)
                dbus_message_unref(reply)
                return DBUS_HANDLER_RESULT_HANDLED
            },
            bytes,
            nil
        )
        while dbus_connection_read_write_dispatch(connection, -1) != 0 {}
    }

    /// The bytes to return: the number at the end of the path.
    private static func size(for message: OpaquePointer?) -> Int32 {
        guard let path = dbus_message_get_path(message), let slash = strrchr(path, Int32(UInt8(ascii: "/"))),
            let size = Int32(String(cString: slash + 1))
        else { return size }
        return min(size, largestSize)
    }
}
