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

    /// The reader to use, and the fingers that are enrolled on it: the first that has any, for a machine may have
    /// several.
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

/// A reader, as fprintd shows it.
///
/// It is used as the user who runs the daemon: fprintd takes an empty name for that.
@BusActor
struct FprintDevice {
    /// The interface of readers.
    static let interface = FprintService.busName + ".Device"

    /// Stands for every enrolled finger, in ``startVerifying(timeout:)`` and where fprintd tells which finger it
    /// expects.
    static let anyFinger = "any"

    /// More names than there are fingers are not taken.
    private static let mostFingers = 16

    private static let user = ""

    let service: FprintService
    let path: ObjectPath

    // MARK: What it is

    /// The names of the fingers that the user has enrolled, sorted.
    func enrolledFingers(until deadline: Deadline) async throws(BusError) -> [String] {
        do throws(BusError) {
            let fingers = try await call("ListEnrolledFingers", FprintDevice.user, timeout: deadline.rest).read(
                [String].self
            )
            return fingers.prefix(FprintDevice.mostFingers).sorted()
        } catch {
            guard error.name == .noEnrolledPrints else { throw error }
            return []
        }
    }

    /// The model, as its driver calls it, and whether it wants a swipe rather than a touch.
    func description(until deadline: Deadline) async throws(BusError) -> (model: String, wantsSwipe: Bool) {
        let message = Message.call(to: service.owner, path, "org.freedesktop.DBus.Properties", "GetAll")
        message.append(FprintDevice.interface)
        let reply = try await service.connection.call(message, timeout: deadline.rest)
        let properties = try reply.read([String: Variant].self)
        var model = ""
        if case .string(let name) = properties["name"] {
            model = String(name.prefix(200))
        }
        return (model, properties["scan-type"] == .string("swipe"))
    }

    // MARK: Using it

    /// Takes the reader for oneself.
    func claim(timeout: Duration) async throws(BusError) {
        _ = try await call("Claim", FprintDevice.user, timeout: timeout)
    }

    /// Lets the reader look for any of the user's fingers.
    func startVerifying(timeout: Duration) async throws(BusError) {
        _ = try await call("VerifyStart", FprintDevice.anyFinger, timeout: timeout)
    }

    /// Ends what ``startVerifying(timeout:)`` has begun, whether a finger has come or not.
    func stopVerifying(timeout: Duration) async throws(BusError) {
        _ = try await service.connection.call(makeCall("VerifyStop"), timeout: timeout)
    }

    /// Gives the reader back.
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

/// The errors of fprintd's interface that mean something to us.
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
    /// What an error that fprintd or the bus has answered with, while a finger was to be matched, is in Apple's terms.
    init(matching error: BusError) {
        switch error.name {
        case .noEnrolledPrints:
            self.init(.biometryNotEnrolled, reason: "no finger is enrolled")
        case .alreadyInUse:
            self.init(.systemCancel, reason: "another program uses the fingerprint reader")
        case .permissionDenied, .accessDenied:
            self.init(.biometryNotAvailable, reason: "the system does not let this session use the reader: \(error)")
        case .noReply, .timeout:
            self.init(.biometryNotAvailable, reason: "fprintd does not answer")
        // A driver that fails to open or close its reader has mostly lost it; an object that is not there any more,
        // surely.
        case .noSuchDevice, .fprintInternal, .unknownObject, .unknownMethod, .unknownInterface:
            self.init(.biometryDisconnected, reason: "the fingerprint reader is gone: \(error)")
        case .disconnected, .nameHasNoOwner:
            self.init(.biometryDisconnected, reason: "fprintd is gone: \(error)")
        default:
            self.init(.biometryNotAvailable, reason: "fprintd fails: \(error)")
        }
    }
}
