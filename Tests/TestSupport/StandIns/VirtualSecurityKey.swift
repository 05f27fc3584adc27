import Foundation
import KeychaindDBus
import Synchronization

/// The ports of a computer: a folder whose sockets are security keys.
package final class SecurityKeyPorts: Sendable {
    private let ports: TemporaryFolder
    private let states: TemporaryFolder

    package init() throws {
        ports = try TemporaryFolder()
        states = try TemporaryFolder()
    }

    /// The lines of `config.toml` that have keychaind use these keys instead of the system's.
    package var configuration: String { "[security-key]\nfolder = \"\(ports.path)\"\n" }

    /// Plugs in a key, which remembers what it knew under its name.
    package func plugIn(_ name: String) async throws -> VirtualSecurityKey {
        let control = states.path("\(name).control")
        try? FileManager.default.removeItem(atPath: control)
        return try await VirtualSecurityKey(
            socket: ports.path(name),
            state: states.path("\(name).json"),
            control: control
        )
    }

    /// Plugs in a key that gives no answer, until another one takes its place in the port.
    package func plugInSilent(_ name: String) throws {
        guard mknod(ports.path(name), S_IFSOCK | 0o600, 0) == 0 else { throw POSIXError(.EIO) }
    }
}

/// A security key in software: `Tests/VirtualAuthenticator`.
package final class VirtualSecurityKey: Sendable {
    private let process: ChildProcess
    private let control: String

    fileprivate init(socket: String, state: String, control: String) async throws {
        self.control = control
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("VirtualAuthenticator/authenticator.py").path
        process = try ChildProcess("/usr/bin/python3", ["-B", script, socket, state, control])
        do {
            _ = try await process.standardOutput.lines.first("the security key") { $0 == "ready" }
        } catch {
            throw DaemonError(reason: "\(error)", log: try await process.standardError.text())
        }
    }

    /// The number of events so far, for ``waits(after:)``.
    package var events: Int { process.standardOutput.lines.count }

    /// Waits until the key waits for a touch.
    package func waits(after events: Int = 0) async throws {
        _ = try await process.standardOutput.lines.first("a blinking key", after: events) { $0 == "waiting" }
    }

    /// Waits until the key is told that it need not be touched.
    package func isCancelled(after events: Int = 0) async throws {
        _ = try await process.standardOutput.lines.first("a cancelled key", after: events) { $0 == "cancelled" }
    }

    /// Whether the key has ever waited for a touch.
    package var hasBlinked: Bool { process.standardOutput.lines.all.contains("waiting") }

    /// Touches it, now or as soon as it waits.
    package func touch(times: Int = 1) throws {
        for _ in 0..<times { try obey("touch") }
    }

    package func set(pin: String) throws { try obey("pin \(pin)") }

    package func remove(extension name: String) throws { try obey("lacks \(name)") }

    /// Answers the next CBOR request, or a later one, with these bytes.
    package func answer(with bytes: [UInt8], to later: Int = 0) throws {
        let digits = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        try obey("says \(later) \(digits.joined())")
    }

    /// Gives other secrets than before, for the same credentials.
    package func forgetSecrets() throws { try obey("forget") }

    /// Gives the former secrets again.
    package func rememberSecrets() throws { try obey("remember") }

    /// Drops touches and answers that nobody has asked for.
    package func rest() throws { try obey("rest") }

    /// Answers nothing any more.
    package func fallSilent() throws { try obey("mute") }

    package func unplug() async throws {
        try obey("unplug")
        try await process.waitForExit()
    }

    /// Sends a command and waits until it is done.
    private func obey(_ command: String) throws {
        let connection = try LocalSocket.connect(to: control)
        let line = Array("\(command)\n".utf8)
        guard write(connection.rawValue, line, line.count) == line.count else { throw POSIXError(.EPIPE) }
        shutdown(connection.rawValue, Int32(SHUT_WR))
        var byte: UInt8 = 0
        while read(connection.rawValue, &byte, 1) > 0 {}
    }
}
