import Foundation
import KeychaindTestSupport

/// A configuration folder with one file or none.
struct ConfigurationFolder {
    private let folder: TemporaryFolder

    init(_ text: String?) throws {
        folder = try TemporaryFolder()
        _ = try folder.makeFolder("keychaind")
        if let text { try folder.write(text, to: "keychaind/config.toml") }
    }

    var path: String { folder.path("keychaind/config.toml") }

    var environment: [String: String?] { ["XDG_CONFIG_HOME": folder.path] }

    /// Replaces the file by something else than a file.
    func replace(withFolder isFolder: Bool) throws {
        try? FileManager.default.removeItem(atPath: path)
        if isFolder {
            _ = try folder.makeFolder("keychaind/config.toml")
        } else {
            mkfifo(path, 0o600)
        }
    }
}
