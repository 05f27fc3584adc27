import Foundation
import Glibc

/// Hears what happens on a display, by the X11 protocol: the few messages of it that this needs.
///
/// A dialog that has grabbed the keyboard is one that a person can type into; there is no other sign of that to wait for.
enum ScreenWatch {
    private enum Code {
        static let changeWindowAttributes: UInt8 = 2
        static let eventMask: UInt32 = 1 << 11
        static let substructureNotify: UInt32 = 1 << 19
        static let focusChange: UInt32 = 1 << 21
    }

    /// Connects to a display by its number, and records events as long as it is there.
    static func start(display number: String) throws -> Recorder<ScreenEvent> {
        let socket = try FileHandle(connectingTo: "/tmp/.X11-unix/X\(number)")
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

    /// The first screen comes after the vendor's name and the pixel formats.
    private static func rootWindow(in setup: [UInt8]) throws -> UInt32 {
        guard setup.count > 32 else { throw ScreenError(reason: "the display tells too little of itself") }
        let vendorSize = Int(setup[16]) | Int(setup[17]) << 8
        let start = 32 + (vendorSize + 3) / 4 * 4 + 8 * Int(setup[21])
        guard setup.count >= start + 4 else { throw ScreenError(reason: "the display has no screen") }
        return setup[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func event(of message: [UInt8]) -> ScreenEvent? {
        // The mode of a focus event: 1 when the keyboard is grabbed, 2 when it is released, 0 when a window asks for it politely.
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
                throw ScreenError(reason: "the display has gone")
            }
            bytes += data
        }
        return bytes
    }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
}

extension FileHandle {
    /// Connects to a local socket.
    fileprivate convenience init(connectingTo path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            guard path.utf8.count < buffer.count else { return false }
            buffer.copyBytes(from: path.utf8)
            return true
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard fits, status == 0 else {
            Glibc.close(descriptor)
            throw ScreenError(reason: "there is no display at \(path)")
        }
        self.init(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
