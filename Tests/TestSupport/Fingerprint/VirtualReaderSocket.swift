import DBus
import Foundation

/// Where libfprint's virtual reader takes its commands: one connection each, which it closes when it has taken the command.
struct VirtualReaderSocket: Sendable {
    let path: String

    /// Sends a command, and returns what the reader answers; the reader listens only while somebody has claimed it.
    func answer(to command: String) async throws -> String {
        let path = path
        return try await BlockingThread.run { Result { try VirtualReaderSocket.exchange(command, at: path) } }.get()
    }

    private static func exchange(_ command: String, at path: String) throws -> String {
        let connection = try LocalSocket.connect(to: path)
        let descriptor = connection.rawValue
        defer { withExtendedLifetime(connection) {} }
        let text = Array(command.utf8)
        guard send(descriptor, text, text.count, Int32(MSG_NOSIGNAL)) == text.count else {
            throw POSIXError(.EIO)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
