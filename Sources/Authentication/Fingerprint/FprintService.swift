import DBus
import Desktop

/// fprintd, the service that drives fingerprint readers: the process that owns its name on the system bus at a moment.
@BusActor
struct FprintService {
    /// The well-known name; the bus starts the service when it is needed.
    static let busName = "net.reactivated.Fprint"

    private static let manager = ObjectPath(unchecked: "/net/reactivated/Fprint/Manager")

    /// More readers than that are not looked at.
    private static let mostDevices = 8

    /// The connection to the system bus.
    let connection: Connection

    /// The unique name of the process; nobody else is called, and nobody else is listened to.
    let owner: String

    /// Finds the service, and starts it if it does not run.
    ///
    /// Throws `ServiceUnknown` where it is not installed.
    static func find(on bus: SystemBus, until deadline: Deadline) async throws(BusError) -> FprintService {
        let connection = try await bus.connection()
        if let owner = try await connection.owner(of: busName, timeout: deadline.rest) {
            return FprintService(connection: connection, owner: owner)
        }
        try await connection.startService(busName, timeout: deadline.rest)
        guard let owner = try await connection.owner(of: busName, timeout: deadline.rest) else {
            throw BusError(.serviceUnknown, "fprintd ends as soon as it is started")
        }
        return FprintService(connection: connection, owner: owner)
    }

    /// The readers that are plugged in.
    func devices(until deadline: Deadline) async throws(BusError) -> [FprintDevice] {
        let call = Message.call(to: owner, FprintService.manager, FprintService.busName + ".Manager", "GetDevices")
        let paths = try await connection.call(call, timeout: deadline.rest).read([ObjectPath].self)
        return paths.prefix(FprintService.mostDevices).map { FprintDevice(service: self, path: $0) }
    }

    /// The reader to use, and the fingers that are enrolled on it: the first that has any, for a machine may have several.
    ///
    /// Nil if there is no reader; without fingers if none has any.
    func findReader(until deadline: Deadline) async throws(BusError) -> (device: FprintDevice, fingers: [String])? {
        let devices = try await devices(until: deadline)
        for device in devices {
            let fingers = try await device.enrolledFingers(until: deadline)
            if !fingers.isEmpty { return (device, fingers) }
        }
        return devices.first.map { ($0, []) }
    }
}
