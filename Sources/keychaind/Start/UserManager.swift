import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindRights
import KeychaindVault

/// systemd's user manager that started this process, asked at its own socket, as `systemctl` does.
///
/// On the bus, its answers would come behind the calls of programs.
@BusActor
struct UserManager {
    /// A job of systemd for a unit: a restart is of type `restart` until the old process has ended, then `start`.
    enum Job: String {
        case restart
        case start
    }

    private static let name = "org.freedesktop.systemd1"
    private static let address = "unix:path=/run/user/\(getuid())/systemd/private"
    /// The time for an answer, and for the manager to come back after it has executed itself again.
    private static let patience = Duration.seconds(2)

    var clock = BootClock.system

    /// The restart of this process's unit that systemd is at now.
    ///
    /// Nil if there is no job of that type, and if systemd cannot be asked. A program of the user can answer in
    /// systemd's place, so only the parent of this process is believed.
    func restart(in job: Job) async -> RestartStamp? {
        let process = getppid()
        let folder = ProcessFolder("\(process)", in: "/proc")
        // Any other parent has no such socket to wait for.
        guard folder.read("comm", limit: 16) == Array("systemd\n".utf8),
            let status = UserRights.perform({ folder.processStatus })
        else { return nil }
        let deadline = ContinuousClock.now + UserManager.patience
        while true {
            do throws(BusError) {
                let connection = try UserRights.perform { () throws(BusError) in
                    try Connection.open(peer: UserManager.address)
                }
                defer { connection.close(flushing: false) }
                connection.noteSender()
                try await greet(connection, until: deadline)
                guard connection.sender == process else { return nil }
                guard let (unit, number) = try await unit(in: job, on: connection) else { return nil }
                return RestartStamp(
                    bootID: clock.bootID,
                    time: UInt64(clamping: clock.now.components.seconds),
                    manager: process,
                    managerStart: status.startTime,
                    job: number,
                    unit: unit.rawValue
                )
            } catch {
                // It does not listen while it executes itself again.
                guard ContinuousClock.now < deadline else { return nil }
                await BusActor.loop.wait(for: .milliseconds(20))
            }
        }
    }

    /// Waits until systemd answers.
    ///
    /// A call that it receives together with the end of the authentication stays in its buffer until another comes.
    private func greet(_ connection: Connection, until deadline: ContinuousClock.Instant) async throws(BusError) {
        var timeout = Duration.milliseconds(20)
        while true {
            do throws(BusError) {
                let ping = Message.call(to: UserManager.name, .root, "org.freedesktop.DBus.Peer", "Ping")
                _ = try await connection.call(ping, timeout: timeout)
                return
            } catch {
                guard error.name == .noReply, ContinuousClock.now < deadline else { throw error }
                timeout *= 2
            }
        }
    }

    /// The unit whose main process this is, and the number of its job, if that is of the type.
    private func unit(
        in job: Job,
        on systemd: Connection
    ) async throws(BusError) -> (ObjectPath, number: UInt32)? {
        let message = Message.call(
            to: UserManager.name,
            ObjectPath(unchecked: "/org/freedesktop/systemd1"),
            "\(UserManager.name).Manager",
            "GetUnitByPID"
        )
        message.append(UInt32(getpid()))
        let unit = try await systemd.call(message, timeout: UserManager.patience).read(ObjectPath.self)
        let main = try await property("MainPID", of: unit, "Service", on: systemd) { (reader) throws(BusError) in
            try UInt32(from: &reader)
        }
        let (number, current) = try await property("Job", of: unit, "Unit", on: systemd) { (reader) throws(BusError) in
            try reader.readStructure { (reader) throws(BusError) in
                (try UInt32(from: &reader), try ObjectPath(from: &reader))
            }
        }
        guard main == UInt32(getpid()), current != .root else { return nil }
        let type = try await property("JobType", of: current, "Job", on: systemd) { (reader) throws(BusError) in
            try String(from: &reader)
        }
        return type == job.rawValue ? (unit, number) : nil
    }

    private func property<Value>(
        _ name: String,
        of object: ObjectPath,
        _ interface: String,
        on connection: Connection,
        _ value: (inout Reader) throws(BusError) -> Value
    ) async throws(BusError) -> Value {
        let message = Message.call(to: UserManager.name, object, "org.freedesktop.DBus.Properties", "Get")
        message.append("\(UserManager.name).\(interface)", name)
        let reply = try await connection.call(message, timeout: UserManager.patience)
        var reader = reply.makeReader()
        return try reader.readVariant(value)
    }
}
