import Foundation

/// What a process writes to one of its outputs: as lines while it comes, as bytes when it is complete.
package final class ChildOutput: Sendable {
    /// Each line without its end, as soon as it is complete.
    package let lines = Recorder<String>()
    private let complete = Recorder<[UInt8]>()

    /// Reads the descriptor to its end on a thread of its own, and closes it.
    init(reading descriptor: Int32) {
        let (lines, complete) = (lines, complete)
        Thread.detachNewThread {
            var all: [UInt8] = []
            var lineStart = 0
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                all += buffer[..<count]
                while let end = all[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                    lines.record(String(decoding: all[lineStart..<end], as: UTF8.self))
                    lineStart = end + 1
                }
            }
            close(descriptor)
            if lineStart < all.count {
                lines.record(String(decoding: all[lineStart...], as: UTF8.self))
            }
            lines.finish()
            complete.record(all)
        }
    }

    /// Everything, once the process has closed its output.
    package func bytes() async throws -> [UInt8] {
        try await complete.first("the end of a process's output")
    }

    /// Everything as text.
    package func text() async throws -> String {
        String(decoding: try await bytes(), as: UTF8.self)
    }
}
