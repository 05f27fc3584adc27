import Foundation

/// A display that nobody sees, for programs with windows; it ends with this object.
package final class Screen: Sendable {
    /// The name for `DISPLAY`.
    package let display: String

    /// What has happened on it.
    package let events: Recorder<ScreenEvent>

    private let server: ChildProcess

    /// Starts the display, and waits until it is there.
    package init() async throws {
        server = try ChildProcess("Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
        let number = try await server.standardOutput.lines.first("the number of the display")
        display = ":\(number)"
        events = try ScreenWatch.start(display: number)
    }

    /// What a program's environment needs to show its windows here, and to leave the rest of the machine alone.
    package var environment: [String: String?] {
        [
            "DISPLAY": display, "WAYLAND_DISPLAY": nil, "XAUTHORITY": nil, "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory",
        ]
    }

    /// Types a text into whatever takes the keys.
    package func type(_ text: String) async throws {
        try await run("type", "--clearmodifiers", "--delay", "1", text)
    }

    /// Presses keys, one after the other, by their X names, such as `Return`.
    package func press(_ keys: String...) async throws {
        try await run(["key", "--clearmodifiers"] + keys)
    }

    private func run(_ arguments: String...) async throws {
        try await run(arguments)
    }

    private func run(_ arguments: [String]) async throws {
        let result = try await Command.run("xdotool", arguments, environment: environment)
        guard result.succeeded else { throw ScreenError(reason: "xdotool has failed: \(result.errors)") }
    }
}
