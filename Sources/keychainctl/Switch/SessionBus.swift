import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindLanguage
import KeychaindSwitch
import SecretServiceClient

/// The session bus, and the provider on it.
final class SessionBus: Sendable {
    private static let name = "org.freedesktop.secrets"
    private static let bus = "org.freedesktop.DBus"
    private static let wallets = "org.kde.kwalletd6"
    private let connection: Connection

    private init(_ connection: Connection) {
        self.connection = connection
    }

    /// Connects to the bus, without starting one; nil if there is none.
    static func open() async -> SessionBus? {
        guard let address, EventLoop.startThread() else { return nil }
        Connection.leaveSignalsAlone()
        return await onLoop { () async -> SessionBus? in
            (try? await Connection.open(address, timeout: .seconds(5))).map(SessionBus.init)
        }
    }

    private static var address: String? {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return String(cString: address) }
        guard let folder = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), access(folder + "/bus", F_OK) == 0
        else { return nil }
        return "unix:path=\(folder)/bus"
    }

    private static func onLoop<Value: Sendable>(
        _ body: @escaping @BusActor @Sendable () async -> Value
    ) async -> Value {
        await Task(executorPreference: BusActor.loop, operation: body).value
    }

    // MARK: The provider

    /// The owner of the name; nil if there is none.
    func owner() async -> Inspection.Owner? {
        await connection(SessionBus.name)
    }

    /// The programs that wait for the name, and get it when its owner leaves the bus.
    func queue() async -> [Inspection.Owner] {
        let names = await SessionBus.onLoop { [connection] () async -> [String] in
            (try? await connection.queuedOwners(of: SessionBus.name, timeout: .seconds(5))) ?? []
        }
        let owner = await owner()
        var waiting: [Inspection.Owner] = []
        for name in names {
            guard let other = await self.connection(name), other != owner, !waiting.contains(other) else { continue }
            waiting.append(other)
        }
        return waiting
    }

    /// The process behind a name of the bus.
    private func connection(_ name: String) async -> Inspection.Owner? {
        let process = await SessionBus.onLoop { [connection] () async -> Int32? in
            try? await connection.process(of: name, timeout: .seconds(5))
        }
        return process.map { process in
            let program = SessionBus.program(of: process)
            return Inspection.Owner(
                process: process,
                program: program.path,
                unit: SessionBus.unit(of: process),
                isReplaced: program.isReplaced
            )
        }
    }

    /// The number of items outside of the collection in memory.
    func countItems() async throws(CommandFailure) -> Int {
        do {
            let client = try await SecretClient.connect()
            var count = 0
            for collection in try await client.collections() where !collection.path.hasSuffix("/session") {
                count += try await collection.items().count
            }
            return count
        } catch {
            throw CommandFailure(
                .noProvider,
                "the items of the present provider cannot be counted: \("\(error)".visible)"
            )
        }
    }

    /// The program file of a process, and whether it has been replaced since the process began.
    ///
    /// The kernel hides the program file of keychaind in its domain; the arguments are for everybody to read.
    private static func program(of process: Int32) -> (path: String, isReplaced: Bool) {
        let files = FileTree(care: .own)
        if case .link(let target) = try? files.state(of: "/proc/\(process)/exe") {
            let mark = " (deleted)"
            return target.hasSuffix(mark) ? (String(target.dropLast(mark.count)), true) : (target, false)
        }
        let arguments = procFile("/proc/\(process)/cmdline").split(separator: "\0")
        guard let path = arguments.first.map(String.init) else { return ("process \(process)", false) }
        return (path, isNewer(path, than: process))
    }

    private static func isNewer(_ path: String, than process: Int32) -> Bool {
        var file = stat()
        // The fields after the name, which may contain anything; the 22nd of all is the start.
        let fields = procFile("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard stat(path, &file) == 0, fields.count > 19, let ticks = Int(fields[19]) else { return false }
        var (sinceBoot, now) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        clock_gettime(CLOCK_REALTIME, &now)
        let age = sinceBoot.tv_sec - ticks / max(1, sysconf(Int32(_SC_CLK_TCK)))
        return now.tv_sec - file.st_ctim.tv_sec + 1 < age
    }

    /// The last component of the control group that is a service.
    private static func unit(of process: Int32) -> String? {
        let lines = procFile("/proc/\(process)/cgroup").split(separator: "\n")
        let path = lines.first { $0.hasPrefix("0::") || $0.contains(":name=systemd:") }
        return path?.split(separator: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }

    private static func procFile(_ path: String) -> String {
        FileTree(care: .own).text(of: path) ?? ""
    }

    // MARK: Changing it

    /// Lets the user manager and the bus read what has changed.
    func reload() async {
        _ = SystemProgram.status(["systemctl", "--user", "daemon-reload"])
        await SessionBus.onLoop { [connection] in
            _ = try? await connection.call(SessionBus.call("ReloadConfig"), timeout: .seconds(5))
        }
    }

    /// Ends the other provider, and those that wait for the name, and starts keychaind; then kwalletd6, if it runs.
    func handOver() async throws(CommandFailure) {
        let wallets = await connection(SessionBus.wallets)
        // Before the others end: a call may then start keychaind at once.
        let isDone = await owner()?.isKeychaind == true
        for other in await queue() where !other.isKeychaind { kill(other.process, SIGTERM) }
        if isDone { return }
        for unit in ["gnome-keyring-daemon.socket", "gnome-keyring-daemon.service", "oo7-daemon.service"] {
            _ = SystemProgram.status(["systemctl", "--user", "stop", unit])
        }
        if let other = await owner(), !other.isKeychaind { kill(other.process, SIGTERM) }
        for _ in 0..<100 {
            guard let other = await owner(), !other.isKeychaind else { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        let problem = await SessionBus.onLoop { [connection] () async -> String? in
            do throws(BusError) {
                try await connection.startService(SessionBus.name, timeout: .seconds(25))
                return nil
            } catch {
                return error.message
            }
        }
        if let problem {
            throw CommandFailure(.noProvider, "keychaind does not start: \(problem.visible); log out and in")
        }
        guard let owner = await owner(), owner.isKeychaind else {
            throw CommandFailure(.noProvider, "another provider keeps the name until you log out")
        }
        if let wallets { await restart(wallets, SessionBus.wallets) }
    }

    /// Starts a program anew that goes on calling the provider that was there at its start.
    private func restart(_ program: Inspection.Owner, _ name: String) async {
        if await connection(name) == program { kill(program.process, SIGTERM) }
        for _ in 0..<100 {
            // An ending process keeps its name on the bus after its program file can no longer be read.
            guard await connection(name)?.process == program.process else { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        // If that fails, the next program that calls it starts it.
        await SessionBus.onLoop { [connection] in
            _ = try? await connection.startService(name, timeout: .seconds(25))
        }
    }

    private static func call(_ member: String) -> Message {
        Message.call(to: bus, ObjectPath(unchecked: "/org/freedesktop/DBus"), bus, member)
    }
}
