import CLinux
import Glibc

/// The bus on which to look for a provider.
public enum SecretBus: Hashable, Sendable {
    /// The user's session bus: what `DBUS_SESSION_BUS_ADDRESS` names, or else the socket `bus` in `XDG_RUNTIME_DIR`.
    ///
    /// Where there is neither, no bus is started for it.
    case session

    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)

    /// The address to connect to.
    func address() throws(SecretServiceError) -> String {
        switch self {
        case .address(let address):
            guard !address.utf8.contains(0) else {
                throw SecretServiceError(.busUnavailable, "the address of the bus holds a NUL")
            }
            return address
        case .session:
            if let address = SecretBus.variable("DBUS_SESSION_BUS_ADDRESS") { return address }
            // Not left to libdbus, which would start a program that is to find or start a bus.
            if let folder = SecretBus.variable("XDG_RUNTIME_DIR"), access(folder + "/bus", F_OK) == 0 {
                return "unix:path=" + SecretBus.escape(folder + "/bus")
            }
            throw SecretServiceError(
                .busUnavailable,
                "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR names a bus"
            )
        }
    }

    /// A variable that is set and not empty; none in a program that runs with other rights than its user's.
    private static func variable(_ name: String) -> String? {
        guard let text = keychaind_secure_getenv(name), text.pointee != 0 else { return nil }
        return String(cString: text)
    }

    /// Escapes a value in an address (D-Bus specification, "Server Addresses").
    static func escape(_ value: String) -> String {
        var escaped = ""
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "*"):
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            default:
                escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return escaped
    }
}
