import Glibc
import KeychaindConfiguration
import KeychaindRights
import Logging

/// The user's configuration file.
enum ConfigurationFile {
    /// `config.toml` in the user's configuration folder.
    static var standardPath: String? { UserFolders.configuration.map { $0 + "/config.toml" } }

    /// Loads the file and logs its mistakes; the defaults if it is missing.
    ///
    /// Blocks on the disk.
    static func load(from path: String, logger: Logger) -> (Configuration, problems: [String]) {
        let content: [UInt8]
        switch UserRights.perform({ read(path) }) {
        case .missing:
            return (Configuration(), [])
        case .failure(let reason):
            logger.error(
                "The configuration cannot be read; keychains lock with the screen and before sleep",
                metadata: ["file": "\(path)", "reason": "\(reason)"]
            )
            return (.unreadable, ["\(path): \(reason)"])
        case .content(let bytes):
            content = bytes
        }
        let reading = ConfigurationReading(of: content)
        let problems = reading.mistakes.map { "\(path):\($0)" }
        for problem in problems {
            logger.error("The configuration has a mistake, the rest of it is in force: \(problem)")
        }
        return (reading.configuration, problems)
    }

    private enum Outcome {
        case content([UInt8])
        case missing
        case failure(String)
    }

    private static func read(_ path: String) -> Outcome {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .failure(lastError) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(lastError) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failure("it is not a file") }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        // Reads past the limit, so that the parser rejects a file that is too long.
        while content.count <= Configuration.limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 { return .failure(lastError) }
            if count == 0 { break }
            content += buffer[..<count]
        }
        return .content(content)
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
