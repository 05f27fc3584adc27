import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging

/// A session that this process controls, with displays in folders of its own.
@BusActor
final class FakeScreen {
    let screens: SessionScreens
    let displays: ScreenDisplays
    /// What keychaind makes of the session after another start of it.
    let restarted: () -> SessionScreens
    let folder: TemporaryFolder
    private let systemBus: PrivateBus
    private let controller: Connection

    /// - Parameters:
    ///   - type: `wayland` or `x11`.
    ///   - x11Folder: the folder of X11 sockets; by default an own one.
    ///   - processes: the folder in place of /proc.
    init(
        type: String = "wayland",
        x11Folder: String? = nil,
        processes: String = "/proc",
        logger: Logger = .silent
    ) async throws {
        folder = try TemporaryFolder()
        systemBus = try await PrivateBus()
        controller = try systemBus.connect()
        for name in ["sessions", "run", "x11", "memory"] { _ = try folder.makeFolder(name) }
        restarted = { [folder, systemBus] in
            SessionScreens(
                systemBus: SystemBus(address: systemBus.address, logger: .silent),
                folder: folder.path("sessions"),
                seatSocket: folder.path("seatd.sock"),
                memory: folder.path("memory"),
                logger: logger
            )
        }
        screens = restarted()
        displays = ScreenDisplays(
            screens: screens,
            runtimeFolder: folder.path("run"),
            x11Folder: x11Folder ?? folder.path("x11"),
            processes: processes,
            accessibilityFile: folder.path("accessible-dialogs")
        )
        try writeSession(type: type)
    }

    isolated deinit {
        controller.close()
    }

    /// - Parameter changes: lines in place of those of a session that a person sees.
    func writeSession(type: String = "wayland", _ changes: [String: String?] = [:], as name: String = "2") throws {
        let lines: [String: String?] = [
            "UID": "\(getuid())", "ACTIVE": "1", "STATE": "active", "REMOTE": "0", "TYPE": type, "ORIGINAL_TYPE": type,
            "CLASS": "user", "SEAT": "seat0", "CONTROLLER": controller.uniqueName, "MONOTONIC": "1",
        ]
        let content = lines.merging(changes) { $1 }.compactMap { name, value in value.map { "\(name)=\($0)\n" } }
        try folder.write(content.joined(), to: "sessions/\(name)")
    }

    /// Another process, as the controller of a session that has begun at a time.
    func control(_ session: String, since start: String = "1") async throws -> ChildProcess {
        let program = """
            import dbus.bus, signal, sys
            bus = dbus.bus.BusConnection(sys.argv[1])
            print(bus.get_unique_name(), flush=True)
            signal.pause()
            """
        let process = try ChildProcess("/usr/bin/python3", ["-c", program, systemBus.address])
        let name = try await process.standardOutput.lines.first("its name")
        try writeSession(["CONTROLLER": name, "MONOTONIC": start], as: session)
        return process
    }

    /// Listens as this process does; until the descriptor's end.
    func listen(_ name: String) throws -> FileDescriptor {
        let socket = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder.path(name).utf8) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, Glibc.listen(socket.rawValue, 4) == 0 else { throw POSIXError(.EADDRINUSE) }
        return socket
    }

    /// Another process that listens.
    func listenElsewhere(_ name: String) async throws -> ChildProcess {
        let program = """
            import socket, sys, time
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            print("listens", flush=True)
            while True: listener.accept()
            """
        let process = try ChildProcess("python3", ["-c", program, folder.path(name)])
        _ = try await process.standardOutput.lines.first("the listener")
        return process
    }
}
