import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindRights
import KeychaindVault

/// systemd's user manager that started this process, asked on the session bus.
@BusActor
struct UserManager {
    /// A job of systemd for a unit: a restart is of type `restart` until the old process has ended, then `start`.
    enum Job: String {
        case restart
        case start
    }

    private static let busName = "org.freedesktop.systemd1"
    /// The time for an answer, and for the manager to come back after it has executed itself again.
    private static let patience = Duration.seconds(2)

    let connection: Connection
    var clock = BootClock.system

    /// The restart of this process's unit that systemd is at now.
    ///
    /// Nil if there is no job of that type, and if systemd cannot be asked. A program of the user can take systemd's
    /// name, so only the parent of this process is asked, on a bus whose socket it made.
    func restart(in job: Job) async -> RestartStamp? {
        let process = getppid()
        let folder = ProcessFolder("\(process)", in: "/proc")
        guard connection.peerProcess == process, let status = UserRights.perform({ folder.processStatus }) else {
            return nil
        }
        let deadline = ContinuousClock.now + UserManager.patience
        while true {
            do throws(BusError) {
                guard let (unit, number) = try await unit(in: job, of: process) else { return nil }
                return RestartStamp(
                    bootID: clock.bootID,
                    time: UInt64(clamping: clock.now.components.seconds),
                    manager: process,
                    managerStart: status.startTime,
                    job: number,
                    unit: unit.rawValue
                )
            } catch {
                // It leaves the bus while it executes itself again.
                guard ContinuousClock.now < deadline else { return nil }
                await BusActor.loop.wait(for: .milliseconds(20))
            }
        }
    }

    /// The unit whose main process this is, and the number of its job, if that is of the type.
    private func unit(in job: Job, of manager: pid_t) async throws(BusError) -> (ObjectPath, number: UInt32)? {
        guard let owner = try await connection.owner(of: UserManager.busName, timeout: UserManager.patience) else {
            throw BusError(.nameHasNoOwner, "systemd is not on the bus")
        }
        guard try await connection.credentials(of: owner).processID == UInt32(manager) else { return nil }
        let message = Message.call(
            to: owner,
            ObjectPath(unchecked: "/org/freedesktop/systemd1"),
            "\(UserManager.busName).Manager",
            "GetUnitByPID"
        )
        message.append(UInt32(getpid()))
        let unit = try await connection.call(message, timeout: UserManager.patience).read(ObjectPath.self)
        let main = try await property("MainPID", of: unit, "Service", at: owner) { (reader) throws(BusError) in
            try UInt32(from: &reader)
        }
        let (number, current) = try await property("Job", of: unit, "Unit", at: owner) { (reader) throws(BusError) in
            try reader.readStructure { (reader) throws(BusError) in
                (try UInt32(from: &reader), try ObjectPath(from: &reader))
            }
        }
        guard main == UInt32(getpid()), current != .root else { return nil }
        let type = try await property("JobType", of: current, "Job", at: owner) { (reader) throws(BusError) in
            try String(from: &reader)
        }
        return type == job.rawValue ? (unit, number) : nil
    }

    private func property<Value>(
        _ name: String,
        of object: ObjectPath,
        _ interface: String,
        at owner: String,
        _ value: (inout Reader) throws(BusError) -> Value
    ) async throws(BusError) -> Value {
        let message = Message.call(to: owner, object, "org.freedesktop.DBus.Properties", "Get")
        message.append("\(UserManager.busName).\(interface)", name)
        let reply = try await connection.call(message, timeout: UserManager.patience)
        var reader = reply.makeReader()
        return try reader.readVariant(value)
    }
}
