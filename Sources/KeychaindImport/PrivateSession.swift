import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient
import Synchronization

/// A bus in a folder of its own, with the programs that run on it, closed to the rest of the session.
final class PrivateSession: Sendable {
    let folder: PrivateFolder
    private let children = Mutex<[ChildProcess]>([])

    /// The time to take the provider's name; a program may first ask a person.
    private static let startTime = Duration.seconds(300)

    private init(_ folder: PrivateFolder) {
        self.folder = folder
    }

    /// Starts the bus.
    static func start(in folder: PrivateFolder) async throws(CommandFailure) -> PrivateSession {
        guard EventLoop.startThread() else {
            throw CommandFailure(.failure, "the process has reached its limit of threads or descriptors")
        }
        let session = PrivateSession(folder)
        do throws(CommandFailure) {
            try await session.startBus()
            return session
        } catch {
            await session.end()
            throw error
        }
    }

    /// Ends the programs, and removes the folder.
    func end() async {
        for child in children.withLock({ $0 }).reversed() { await child.end() }
        folder.remove()
    }

    /// The bus of the programs.
    var bus: SecretBus { .address(address) }

    private var address: String { "unix:path=\(folder.path)/bus" }

    // MARK: Programs

    /// Starts a program on the bus.
    ///
    /// - Parameters:
    ///   - environment: its variables besides the display, the language and the bus.
    ///   - descriptors: its descriptors from 0 on; -1 for `/dev/null`.
    func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        descriptors: [Int32] = [-1, -1, -1]
    ) async throws(CommandFailure) -> ChildProcess {
        var variables = DisplayEnvironment.variables
        variables["DBUS_SESSION_BUS_ADDRESS"] = address
        let child = try await ChildProcess.start(
            program,
            arguments,
            environment: variables.merging(environment) { $1 },
            descriptors: descriptors
        )
        children.withLock { $0.append(child) }
        return child
    }

    /// Waits until a program is the provider on the bus.
    ///
    /// - Parameter name: the name of the program, for the error.
    func waitForProvider(_ child: ChildProcess, _ name: String) async throws(CommandFailure) {
        guard let status = await firstOwner(or: child) else {
            throw CommandFailure(.noProvider, "\(name) has started, but offers no Secret Service")
        }
        guard status == nil else {
            throw CommandFailure(.noProvider, "\(name) ended with status \(status ?? 0) when it was started")
        }
    }

    /// The exit status of the program; `.some(nil)` if the name has an owner, nil after the time limit.
    @BusActor
    private func firstOwner(or child: ChildProcess) async -> Int32?? {
        guard let connection = try? await Connection.open(address, timeout: .seconds(25)) else { return nil }
        defer { connection.close(flushing: false) }
        let outcome = Promise<Int32?>()
        connection.followOwner(of: "org.freedesktop.secrets") { owner in
            if owner != nil { outcome.fulfill(nil) }
        }
        BusActor.start { outcome.fulfill(await child.waitForExit()) }
        return await withTaskCancellationHandler {
            await outcome.value(within: PrivateSession.startTime)
        } onCancel: {
            Task(executorPreference: BusActor.loop) { @BusActor in _ = outcome.fulfill(-1) }
        }
    }

    // MARK: The bus

    private func startBus() async throws(CommandFailure) {
        guard let program = InstalledProgram.find("dbus-daemon") else {
            throw CommandFailure(.notFound, "dbus-daemon is not installed; it runs the other program apart")
        }
        let configuration = "\(folder.path)/bus.conf"
        guard let file = fopen(configuration, "wxe") else {
            throw CommandFailure(.inputOutput, "\(configuration.visible): \(String(cString: strerror(errno)))")
        }
        let isWritten = fputs(busConfiguration, file) >= 0
        guard fclose(file) == 0, isWritten else {
            throw CommandFailure(.inputOutput, "\(configuration.visible): \(String(cString: strerror(errno)))")
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, Text(verbatim: String(cString: strerror(errno))))
        }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { close(readEnd) }
        do throws(CommandFailure) {
            let arguments = ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"]
            let child = try await ChildProcess.start(
                program,
                arguments,
                environment: DisplayEnvironment.variables,
                descriptors: [-1, writeEnd, -1]
            )
            children.withLock { $0.append(child) }
        } catch {
            close(writeEnd)
            throw error
        }
        close(writeEnd)
        // It prints the address once it listens.
        let isListening = await BlockingThread.run {
            var byte: UInt8 = 0
            return read(readEnd, &byte, 1) == 1
        }
        guard isListening else { throw CommandFailure(.failure, "dbus-daemon did not start") }
    }

    private var busConfiguration: String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
            <allow own="*"/>
          </policy>
          <limit name="max_incoming_bytes">1000000000</limit>
          <limit name="max_outgoing_bytes">1000000000</limit>
          <limit name="max_message_size">134217728</limit>
          <limit name="max_replies_per_connection">50000</limit>
          <limit name="max_match_rules_per_connection">50000</limit>
        </busconfig>

        """
    }
}

/// Where programs are.
enum InstalledProgram {
    /// The absolute path of a program in `PATH` or where daemons are.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let folders = path.split(separator: ":").map(String.init) + ["/usr/libexec", "/usr/lib"]
        return folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// keychaind beside this program, or in `PATH`.
    static var keychaind: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
        if let end = own.lastIndex(of: "/") {
            let beside = own[..<end] + "/keychaind"
            if access(String(beside), X_OK) == 0 { return String(beside) }
        }
        return find("keychaind")
    }
}
