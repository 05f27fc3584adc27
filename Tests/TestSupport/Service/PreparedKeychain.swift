import Foundation
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// A keychain `login` whose password opens it at once, made once for all tests.
///
/// Deriving its key at the cost that keychaind chooses would take as long as everything else in the tests.
actor PreparedKeychain {
    static let password = "password"

    private static let files = Task { try await PreparedKeychain().make() }

    /// Writes it for a daemon that has not been started yet.
    static func write(toDataHome folder: String) async throws {
        let folder = URL(fileURLWithPath: folder).appendingPathComponent("keychaind")
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)
        for (name, content) in try await files.value {
            let file = folder.appendingPathComponent(name)
            try content.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
    }

    private func make() async throws -> [String: Data] {
        let folder = try TemporaryFolder()
        let vault = Vault(
            VaultConfiguration(
                directory: folder.path,
                keyDerivation: Argon2id(memoryKiB: 64, iterations: 1, lanes: 1),
                generations: 0,
                logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        try await vault.open()
        try await vault.collection(named: .login)?.unlock(with: SecureBytes(copying: Array(Self.password.utf8)))
        await vault.close()
        var files: [String: Data] = [:]
        for name in ["index.key", "login.keychain"] {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
        }
        return files
    }
}
