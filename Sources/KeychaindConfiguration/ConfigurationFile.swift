import Glibc
import KeychaindFiles

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

    /// Reads a file up to one byte more than the limit, so that the parser rejects one that is too long.
    ///
    /// Blocks on the disk.
    package static func read(_ path: String) -> Content {
        do throws(RegularFile.Failure) {
            return .text(try RegularFile(path).read(most: Configuration.limit + 1))
        } catch .system(ENOENT), .system(ENOTDIR) {
            return .missing
        } catch {
            return .unreadable(reason: error.reason)
        }
    }
}
