import KeychaindDBus
import KeychaindDesktop

/// The fprintd process that currently owns the name on the system bus.
@BusActor
struct FprintService {
    /// The well-known name; the bus activates the service.
    static let busName = "net.reactivated.Fprint"

    private static let manager = ObjectPath(unchecked: "/net/reactivated/Fprint/Manager")

    private nonisolated static let mostDevices = 8

    let connection: Connection

    /// The unique name of the process; calls go to it and signals are accepted from it alone.
    let owner: String

    /// Finds the service; starts it if necessary.
    ///
    /// Throws `ServiceUnknown` if it is not installed.
    static func find(on bus: SystemBus, until deadline: Deadline) async throws(BusError) -> FprintService {
        let connection = try await bus.connection()
        if let owner = try await connection.owner(of: busName, timeout: deadline.rest) {
            return FprintService(connection: connection, owner: owner)
        }
        try await connection.startService(busName, timeout: deadline.rest)
        guard let owner = try await connection.owner(of: busName, timeout: deadline.rest) else {
            throw BusError(.serviceUnknown, "fprintd exited right after it was started; see its log")
        }
        return FprintService(connection: connection, owner: owner)
    }

    func devices(until deadline: Deadline) async throws(BusError) -> [FprintDevice] {
        let call = Message.call(to: owner, FprintService.manager, FprintService.busName + ".Manager", "GetDevices")
        let paths = try FprintService.devices(in: await connection.call(call, timeout: deadline.rest))
        return paths.map { FprintDevice(service: self, path: $0) }
    }

    /// The paths in a reply of `GetDevices`.
    nonisolated static func devices(in reply: Message) throws(BusError) -> [ObjectPath] {
        let paths = try reply.read([ObjectPath].self)
        return Array(paths.prefix(mostDevices))
    }

    /// The first reader with enrolled fingers, else the first reader; nil without a reader.
    func findReader(until deadline: Deadline) async throws(BusError) -> (device: FprintDevice, fingers: [String])? {
        let devices = try await devices(until: deadline)
        for device in devices {
            let fingers = try await device.enrolledFingers(until: deadline)
            if !fingers.isEmpty { return (device, fingers) }
        }
        return devices.first.map { ($0, []) }
    }
}

/// A reader object of fprintd.
///
/// Calls pass an empty user name, which means the user of the caller.
@BusActor
struct FprintDevice {
    static let interface = FprintService.busName + ".Device"

    /// Any enrolled finger, in ``startVerifying(timeout:)`` and in the signal for the expected finger.
    static let anyFinger = "any"

    private nonisolated static let mostFingers = 16

    private static let user = ""

    let service: FprintService
    let path: ObjectPath

    // MARK: Description

    /// The user's enrolled fingers, sorted.
    func enrolledFingers(until deadline: Deadline) async throws(BusError) -> [String] {
        do throws(BusError) {
            let reply = try await call("ListEnrolledFingers", FprintDevice.user, timeout: deadline.rest)
            return try FprintDevice.fingers(in: reply)
        } catch {
            guard error.name == .noEnrolledPrints else { throw error }
            return []
        }
    }

    /// The fingers in a reply of `ListEnrolledFingers`, sorted.
    nonisolated static func fingers(in reply: Message) throws(BusError) -> [String] {
        let fingers = try reply.read([String].self)
        return fingers.prefix(mostFingers).sorted()
    }

    /// The driver's name of the model, and whether the reader needs a swipe.
    func description(until deadline: Deadline) async throws(BusError) -> (model: String, wantsSwipe: Bool) {
        let message = Message.call(to: service.owner, path, "org.freedesktop.DBus.Properties", "GetAll")
        message.append(FprintDevice.interface)
        return try FprintDevice.description(in: await service.connection.call(message, timeout: deadline.rest))
    }

    /// The description in a reply of `GetAll`.
    nonisolated static func description(in reply: Message) throws(BusError) -> (model: String, wantsSwipe: Bool) {
        let properties = try reply.read([String: Variant].self)
        var model = ""
        if case .string(let name) = properties["name"] {
            model = String(name.prefix(200))
        }
        return (model, properties["scan-type"] == .string("swipe"))
    }

    // MARK: Use

    func claim(timeout: Duration) async throws(BusError) {
        _ = try await call("Claim", FprintDevice.user, timeout: timeout)
    }

    func startVerifying(timeout: Duration) async throws(BusError) {
        _ = try await call("VerifyStart", FprintDevice.anyFinger, timeout: timeout)
    }

    func stopVerifying(timeout: Duration) async throws(BusError) {
        _ = try await service.connection.call(makeCall("VerifyStop"), timeout: timeout)
    }

    func release(timeout: Duration) async throws(BusError) {
        _ = try await service.connection.call(makeCall("Release"), timeout: timeout)
    }

    private func call(_ member: String, _ argument: String, timeout: Duration) async throws(BusError) -> Message {
        let message = makeCall(member)
        message.append(argument)
        return try await service.connection.call(message, timeout: timeout)
    }

    private func makeCall(_ member: String) -> Message {
        Message.call(to: service.owner, path, FprintDevice.interface, member)
    }
}

/// Errors of the fprintd interface.
extension ErrorName {
    private init(fprint name: String) {
        self.init(rawValue: "net.reactivated.Fprint.Error." + name)
    }

    static let alreadyInUse = ErrorName(fprint: "AlreadyInUse")
    static let fprintInternal = ErrorName(fprint: "Internal")
    static let noEnrolledPrints = ErrorName(fprint: "NoEnrolledPrints")
    static let noSuchDevice = ErrorName(fprint: "NoSuchDevice")
    static let permissionDenied = ErrorName(fprint: "PermissionDenied")
}

extension AuthenticationError {
    /// Maps an error during a match to an Apple error.
    init(matching error: BusError) {
        switch error.name {
        case .noEnrolledPrints:
            self.init(.biometryNotEnrolled, reason: "no finger is enrolled")
        case .alreadyInUse:
            self.init(.systemCancel, reason: "another program uses the fingerprint reader")
        case .permissionDenied, .accessDenied:
            self.init(.biometryNotAvailable, reason: "fprintd denies access to the fingerprint reader: \(error)")
        case .noReply, .timeout:
            self.init(.biometryNotAvailable, reason: "fprintd does not answer")
        // A driver that cannot open or close its reader has usually lost it.
        case .noSuchDevice, .fprintInternal, .unknownObject, .unknownMethod, .unknownInterface:
            self.init(.biometryDisconnected, reason: "the fingerprint reader is gone: \(error)")
        case .disconnected, .nameHasNoOwner:
            self.init(.biometryDisconnected, reason: "lost the connection to fprintd: \(error)")
        default:
            self.init(.biometryNotAvailable, reason: "fprintd failed: \(error)")
        }
    }
}
