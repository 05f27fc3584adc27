/// Which bus to connect to.
package enum BusAddress: Hashable, Sendable {
    /// The user's session bus, as `DBUS_SESSION_BUS_ADDRESS` or the runtime folder tells.
    case session
    /// The machine's bus.
    case system
    /// A bus by its address, such as `unix:path=…`.
    case address(String)
}
