import Foundation
import Glibc
import KeychaindDBus

/// A virtual X11 display; this object's end stops it.
package final class Screen: Sendable {
    /// The value for `DISPLAY`.
    package let display: String

    /// The events on the display.
    package let events: Recorder<ScreenEvent>

    private let server: ChildProcess

    /// Starts the display and waits until it is ready.
    package init() async throws {
        server = try ChildProcess("Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
        let number = try await server.standardOutput.lines.first("the number of the display")
        display = ":\(number)"
        events = try ScreenWatch.start(display: number)
    }

    /// The environment for programs on this display, separate from the developer's desktop.
    package var environment: [String: String?] {
        [
            "DISPLAY": display, "WAYLAND_DISPLAY": nil, "XAUTHORITY": nil, "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory",
        ]
    }

    /// Types a text into the focused window.
    package func type(_ text: String) async throws {
        try await run("type", "--clearmodifiers", "--delay", "1", text)
    }

    /// Presses keys one after the other, by their X names such as `Return`.
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

/// An event on a ``Screen``.
package enum ScreenEvent: Hashable, Sendable {
    /// A window was shown.
    case shown
    /// A window was hidden.
    case hidden
    /// A window was moved or resized.
    case resized
    /// A window has the focus.
    case focused
    /// A dialog grabbed the keyboard.
    case keyboardGrabbed
    /// The keyboard was released.
    case keyboardReleased
}

/// An error of a ``Screen``.
struct ScreenError: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}

/// Watches events on a display with a few messages of the X11 protocol.
///
/// A dialog that has grabbed the keyboard accepts typing; there is no other sign to wait for.
enum ScreenWatch {
    private enum Code {
        static let changeWindowAttributes: UInt8 = 2
        static let eventMask: UInt32 = 1 << 11
        static let substructureNotify: UInt32 = 1 << 19
        static let focusChange: UInt32 = 1 << 21
    }

    /// Connects to a display and records its events.
    static func start(display number: String) throws -> Recorder<ScreenEvent> {
        let path = "/tmp/.X11-unix/X\(number)"
        guard let connection = try? LocalSocket.connect(to: path) else {
            throw ScreenError(reason: "there is no display at \(path)")
        }
        let descriptor = fcntl(connection.rawValue, F_DUPFD_CLOEXEC, 0)
        let socket = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Little-endian, version 11, no authorization.
        try socket.write(contentsOf: [UInt8(ascii: "l"), 0, 11, 0] + [UInt8](repeating: 0, count: 8))
        let root = try rootWindow(in: readSetup(socket))
        let mask = Code.substructureNotify | Code.focusChange
        let words: [UInt32] = [4 << 16 | UInt32(Code.changeWindowAttributes), root, Code.eventMask, mask]
        try socket.write(contentsOf: words.flatMap(bytes))
        let events = Recorder<ScreenEvent>()
        Thread.detachNewThread {
            while let message = try? read(32, from: socket) {
                if let event = event(of: message) {
                    events.record(event)
                }
            }
            events.finish()
        }
        return events
    }

    private static func readSetup(_ socket: FileHandle) throws -> [UInt8] {
        let head = try read(8, from: socket)
        let rest = try read(4 * (Int(head[6]) | Int(head[7]) << 8), from: socket)
        guard head[0] == 1 else { throw ScreenError(reason: "the display refuses the connection") }
        return rest
    }

    /// The first screen follows the vendor's name and the pixel formats.
    private static func rootWindow(in setup: [UInt8]) throws -> UInt32 {
        guard setup.count > 32 else { throw ScreenError(reason: "the display sent a short setup message") }
        let vendorSize = Int(setup[16]) | Int(setup[17]) << 8
        let start = 32 + (vendorSize + 3) / 4 * 4 + 8 * Int(setup[21])
        guard setup.count >= start + 4 else { throw ScreenError(reason: "the display has no screen") }
        return setup[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func event(of message: [UInt8]) -> ScreenEvent? {
        // The mode of a focus event: 1 for a keyboard grab, 2 for its release, 0 for a plain focus change.
        switch (message[0] & 0x7F, message[8]) {
        case (9, 2): .keyboardReleased
        case (10, 0): .focused
        case (10, 1): .keyboardGrabbed
        case (18, _): .hidden
        case (19, _): .shown
        case (22, _): .resized
        default: nil
        }
    }

    private static func read(_ count: Int, from socket: FileHandle) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let data = try socket.read(upToCount: count - bytes.count), !data.isEmpty else {
                throw ScreenError(reason: "the display ended")
            }
            bytes += data
        }
        return bytes
    }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
}
