import Foundation

/// The built programs under a prefix of their own, with the catalogues of this source tree.
package final class TranslatedPrograms: Sendable {
    private let folder: TemporaryFolder
    package let keychaind: String
    package let keychainctl: String

    package init() async throws {
        folder = try TemporaryFolder()
        let programs = try folder.makeFolder("bin")
        keychaind = programs + "/keychaind"
        keychainctl = programs + "/keychainctl"
        let built = URL(fileURLWithPath: KeychainDaemon.executable).deletingLastPathComponent()
        for path in [keychaind, keychainctl] {
            let source = built.appendingPathComponent(URL(fileURLWithPath: path).lastPathComponent)
            try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: path))
        }
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        for language in ["ar", "de"] {
            let source = project.appendingPathComponent("po/\(language).po").path
            let result = try await Command.run("msgfmt", ["--output-file=\(try makeCatalogue(language))", source])
            guard result.succeeded else { throw DaemonError(reason: result.errors, log: "") }
        }
    }

    /// The path of a catalogue, in its folder.
    package func makeCatalogue(_ language: String) throws -> String {
        try folder.makeFolder("share/locale/\(language)/LC_MESSAGES") + "/keychaind.mo"
    }

    /// The options for a keychaind with these variables.
    package func options(_ variables: [String: String?]) -> KeychainDaemon.Options {
        var options = KeychainDaemon.Options()
        options.program = keychaind
        options.environment = variables.merging(["LC_ALL": nil]) { first, _ in first }
        return options
    }
}
