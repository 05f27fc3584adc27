import Glibc
import KeychaindDBus

/// The session bus address: `DBUS_SESSION_BUS_ADDRESS`, or the bus in the user's runtime folder if it is unset.
///
/// libdbus refuses to read it from the environment of a set-gid process, which accepts only one local socket: other
/// addresses make libdbus start programs or connect to other machines.
enum SessionBusAddress {
    /// Throws `Failed` for an address that is not accepted in the domain.
    static func find(in domain: Domain) throws(BusError) -> String {
        guard let variable = getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }), !variable.isEmpty else {
            return runtime
        }
        guard domain.isEntered else { return variable }
        guard let address = checked(variable, runtime: runtime) else {
            throw BusError(
                .failed,
                "DBUS_SESSION_BUS_ADDRESS must be one unix:path=, unix:abstract= or unix:runtime=yes: \(variable)"
            )
        }
        return address
    }

    /// The address, if it has one socket and at most one bus identifier; nil otherwise.
    ///
    /// - Parameter runtime: the address that replaces `runtime=yes`.
    static func checked(_ address: String, runtime: String) -> String? {
        let prefix = "unix:"
        guard address.hasPrefix(prefix), address.utf8.allSatisfy(isAllowed) else { return nil }
        var socket: String?
        var identifiers = 0
        for part in address.dropFirst(prefix.count).split(separator: ",", omittingEmptySubsequences: false) {
            if part.hasPrefix("guid=") {
                identifiers += 1
                guard identifiers == 1, part.utf8.count == "guid=".utf8.count + 32 else { return nil }
                continue
            }
            guard socket == nil else { return nil }
            if part == "runtime=yes" {
                socket = runtime
            } else if part.hasPrefix("path=/") || (part.hasPrefix("abstract=") && part != "abstract=") {
                socket = prefix + part
            } else {
                return nil
            }
        }
        return socket
    }

    private static var runtime: String { "unix:path=/run/user/\(getuid())/bus" }

    /// Whether a byte is allowed; `;` is not, since it begins another address.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_/.\\*%:=,".utf8.contains(byte)
        }
    }
}
