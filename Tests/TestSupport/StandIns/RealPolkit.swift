import Foundation

/// The real polkitd on a private bus, with this project's action file and no rules.
///
/// polkitd reads its actions from a fixed path and drops root's rights, so it needs root and a private mount namespace.
/// The questions are about a process of another user, since root is never asked.
package final class RealPolkit: Sendable {
    /// The bus that stands for the system bus.
    package let bus: PrivateBus
    /// A process of the user `nobody`, the subject of the questions.
    package let process: ChildProcess
    /// The start time of that process, as in proc(5).
    package let startTime: UInt64

    private let folder: TemporaryFolder
    private let daemon: ChildProcess

    /// The user `nobody`.
    package static let user: Int32 = 65534

    /// Whether it can run here.
    package static func canRun() async throws -> Bool {
        guard geteuid() == 0 else { return false }
        return try await Command.run("unshare", ["--mount", "--propagation", "private", "true"]).status == .exited(0)
    }

    /// Starts polkitd and waits for its bus name.
    package init() async throws {
        let bus = try await PrivateBus(isForEveryone: true)
        self.bus = bus
        folder = try TemporaryFolder()
        let actions = try folder.makeFolder("actions")
        let rules = try folder.makeFolder("rules")
        let policy = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../dbus/org.keychaind.policy").standardizedFileURL.path
        try FileManager.default.copyItem(atPath: policy, toPath: actions + "/org.keychaind.policy")
        for path in [actions, rules] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let watch = try await NameWatch(FakePolkit.busName, on: bus)
        daemon = try RealPolkit.launch(actions: actions, rules: rules, on: bus)
        (process, startTime) = try await RealPolkit.launchSubject()
        do {
            try await watch.waitForOwner(unless: daemon)
        } catch {
            try await daemon.kill()
            throw DaemonError(reason: "\(error)", log: try await daemon.standardError.text())
        }
    }

    deinit {
        daemon.end()
        process.end()
    }

    private static func launch(actions: String, rules: String, on bus: PrivateBus) throws -> ChildProcess {
        let candidates = ["/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd"]
        guard let program = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw DaemonError(reason: "the package polkitd has to be installed", log: "")
        }
        let script = """
            mount --bind "$1" /usr/share/polkit-1/actions
            mount --bind "$2" /etc/polkit-1/rules.d
            mount --bind "$2" /usr/share/polkit-1/rules.d
            exec "$3" --no-debug
            """
        return try ChildProcess(
            "unshare",
            ["--mount", "--propagation", "private", "sh", "-e", "-c", script, "sh", actions, rules, program],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
    }

    private static func launchSubject() async throws -> (ChildProcess, UInt64) {
        let process = try ChildProcess(
            "setpriv",
            ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "sh", "-c", "echo; exec sleep 1000"]
        )
        _ = try await process.standardOutput.lines.first("a process of another user")
        return (process, try startTime(of: process.id))
    }

    /// Returns the start time of a process, as in proc(5).
    package static func startTime(of id: Int32) throws -> UInt64 {
        let status = try String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        let fields = status[(status.lastIndex(of: ")") ?? status.startIndex)...].split(separator: " ")
        guard fields.count > 20, let startTime = UInt64(fields[20]) else {
            throw DaemonError(reason: "no start time in /proc/PID/stat", log: status)
        }
        return startTime
    }
}
