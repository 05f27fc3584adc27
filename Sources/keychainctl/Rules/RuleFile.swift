import Glibc
import KeychaindCommandLine
import KeychaindLanguage

/// The rules of a file: one a line, with comments after # at the beginning of a line.
struct RuleFile {
    let rules: [String]

    /// Many more than the 10,000 rules that keychaind takes.
    private static let limit = 16 << 20

    /// Reads the file to its end; Ctrl-C ends the wait for a terminal or a pipe.
    ///
    /// - Parameter path: `-` for standard input.
    init(_ path: String, _ interruption: Interruption) throws(CommandFailure) {
        // The open of a pipe would wait for its writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, flags)
        guard descriptor >= 0 else { throw RuleFile.failure(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            try interruption.waitForInput(descriptor)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw RuleFile.failure(path, errno) }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= RuleFile.limit else {
                throw CommandFailure(.inputOutput, "\(path.visible) is too large for a file of rules")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.mistakes, "\(path.visible) is not text in UTF-8")
        }
        rules = RuleFile.rules(in: text)
    }

    /// The lines that are neither empty nor comments.
    static func rules(in text: String) -> [String] {
        text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }).map { line in
            String(line.drop { $0 == " " || $0 == "\t" })
        }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        let reason = String(cString: strerror(code))
        return CommandFailure(.inputOutput, "\(path.visible) cannot be read: \(reason)")
    }
}
