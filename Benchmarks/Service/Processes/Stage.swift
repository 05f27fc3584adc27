import Glibc

/// A private bus with the floor service and a provider.
final class Stage {
    let folder: BenchmarkFolder
    let client: BusClient
    let address: String
    private let bus: ChildProcess
    private let floor: ChildProcess

    /// Starts the bus and the floor service.
    init() throws {
        folder = try BenchmarkFolder()
        let socket = "/tmp/keychaind-benchmark-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        address = "unix:path=\(socket)"
        let configuration = try folder.write(Stage.configuration(address), to: "bus.conf")
        bus = try ChildProcess(
            "dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--nopidfile"],
            environment: Stage.environment(folder, address),
            output: folder.path + "/bus.log"
        )
        client = try Stage.waiting(for: "the bus") { [address] in try? BusClient(address) }
        let pinentry = try folder.write(Stage.pinentry, to: "pinentry")
        guard chmod(pinentry, 0o700) == 0 else { throw BenchmarkError(reason: "\(pinentry) cannot be run") }
        floor = try ChildProcess(
            "/proc/self/exe",
            ["--floor"],
            environment: Stage.environment(folder, address),
            output: folder.path + "/floor.log"
        )
        try client.waitForOwner(of: FloorService.busName)
    }

    /// Runs this program, the bus, the floor service and a provider on one CPU during the closure.
    func onOneProcessor<Result>(with provider: ChildProcess, _ body: () throws -> Result) rethrows -> Result {
        try Processors.onOne([getpid(), bus.id, floor.id, provider.id], body)
    }

    /// Stops everything and removes the files.
    func close() {
        floor.stop()
        bus.stop()
        folder.remove()
    }

    /// Starts a program on the bus, with its data in the folder.
    func start(_ executable: String, _ arguments: [String], input: String) throws -> ChildProcess {
        try ChildProcess(
            executable,
            arguments,
            environment: Stage.environment(folder, address),
            input: input,
            output: folder.path + "/provider.log"
        )
    }

    /// Polls for a value for up to five seconds.
    static func waiting<Value>(for what: String, _ value: () throws -> Value?) throws -> Value {
        let end = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < end {
            if let value = try value() { return value }
            usleep(2_000)
        }
        throw BenchmarkError(reason: "\(what) does not come")
    }

    private static func environment(_ folder: BenchmarkFolder, _ address: String) -> [String: String] {
        [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "DBUS_SESSION_BUS_ADDRESS": address,
            // Without a screen, the pinentry in the folder answers.
            "PATH": "\(folder.path):\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")",
            "DISPLAY": ":0",
        ]
    }

    /// A pinentry that claims to have windows and knows the password.
    private static let pinentry = """
        #!/bin/sh
        echo OK
        while read -r command; do
            case $command in
                GETINFO*) printf 'D gtk2\nOK\n' ;;
                GETPIN*) printf 'D \(Provider.password)\nOK\n' ;;
                *) echo OK ;;
            esac
        done

        """

    private static func configuration(_ address: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
          <limit name="max_replies_per_connection">100000</limit>
        </busconfig>

        """
    }
}
