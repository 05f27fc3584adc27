import CKeychaindLinux
import Glibc

extension SecretClient {
    /// The bus, the encryption and the time limits of a client.
    public struct Configuration: Hashable, Sendable {
        /// The encryption of secrets on the bus.
        ///
        /// Encrypted secrets cannot be read from a record of the bus traffic. Encryption does not protect from a
        /// program that can change the traffic.
        public enum Encryption: Hashable, Sendable {
            /// Encrypted, unless the provider does not support it.
            case preferred
            /// Encrypted; without the provider's support, fails with ``SecretServiceError/Code/notSupported``.
            case required
            /// Unencrypted, for debugging.
            case none
        }

        /// The bus of the provider.
        public var bus = SecretBus.session

        /// The encryption of secrets on the bus.
        public var encryption = Encryption.preferred

        /// The time limit for connecting, and for starting a provider.
        public var connectTimeout = Duration.seconds(25)

        /// The time limit for a call without a prompt.
        public var callTimeout = Duration.seconds(25)

        /// The session bus with the default limits.
        public init() {}

        /// Another bus with the default limits.
        public init(bus: SecretBus) {
            self.bus = bus
        }
    }
}

/// The bus of the provider.
public enum SecretBus: Hashable, Sendable {
    /// The user's session bus: the address in `DBUS_SESSION_BUS_ADDRESS`, or else the socket `bus` in
    /// `XDG_RUNTIME_DIR`.
    ///
    /// Does not start a bus if there is neither.
    case session

    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)

    func address() throws(SecretServiceError) -> String {
        switch self {
        case .address(let address):
            guard !address.utf8.contains(0) else {
                throw SecretServiceError(.busUnavailable, "the address of the bus contains a NUL character")
            }
            return address
        case .session:
            if let address = SecretBus.variable("DBUS_SESSION_BUS_ADDRESS") { return address }
            // libdbus would run a program to find or start a bus.
            if let folder = SecretBus.variable("XDG_RUNTIME_DIR"), access(folder + "/bus", F_OK) == 0 {
                return "unix:path=" + SecretBus.escape(folder + "/bus")
            }
            throw SecretServiceError(
                .busUnavailable,
                "no session bus: set DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR"
            )
        }
    }

    /// Nil if the variable is empty or unset, or in a set-uid or set-gid program.
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
