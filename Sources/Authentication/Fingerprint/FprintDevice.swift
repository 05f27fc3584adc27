import DBus

/// A reader, as fprintd shows it.
///
/// It is used as the user who runs the daemon: fprintd takes an empty name for that.
@BusActor
struct FprintDevice {
    /// The interface of readers.
    static let interface = FprintService.busName + ".Device"

    /// Stands for every enrolled finger, in ``startVerifying(timeout:)`` and where fprintd tells which finger it expects.
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
