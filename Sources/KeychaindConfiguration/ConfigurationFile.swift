import Glibc

/// The user's configuration file.
package enum ConfigurationFile {
    /// The content of a path.
    package enum Content: Hashable, Sendable {
        case text([UInt8])
        case missing
        case unreadable(reason: String)
    }

    /// `config.toml` in `$XDG_CONFIG_HOME/keychaind`, or in `~/.config/keychaind`; nil without a home folder.
    package static var standardPath: String? {
        let folder = variable("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }
        return folder.map { "\($0)/keychaind/config.toml" }
    }

    private static var home: String? {
        variable("HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    }

    /// The folder in a variable; relative paths are ignored.
    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }

    /// Reads a file up to the limit and one buffer more, so that the parser rejects one that is too long.
    ///
    /// Blocks on the disk.
    package static func read(_ path: String) -> Content {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : lastFailure }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return lastFailure }
        guard status.st_mode & S_IFMT == S_IFREG else { return .unreadable(reason: "it is not a file") }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while content.count <= Configuration.limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 { return lastFailure }
            if count == 0 { break }
            content += buffer[..<count]
        }
        return .text(content)
    }

    private static var lastFailure: Content { .unreadable(reason: String(cString: strerror(errno))) }
}
