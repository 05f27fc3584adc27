import Foundation
import KeychaindTestSupport
import Testing

/// `keychainctl import` of keyrings that libsecret's file backend made, in the folder of oo7 and in one of Flatpak.
struct FileBackendTests {
    @Test("the keyrings that oo7 has moved are imported, also beside gnome-keyring's", arguments: [false, true])
    func import_movedKeyrings_areRead(besidesOthers: Bool) async throws {
        let home = try ImportHome()
        if besidesOthers { try home.writePlainKeyring([PlainItem(attributes: ["n": "1"])], name: "work") }
        _ = try home.folder.makeFolder("data/keyrings/v1")
        try await home.store("one", password: "password", in: "data/keyrings/v1/login.keyring")
        try await home.store("two", password: "another", in: "data/keyrings/v1/locked.keyring")
        let result = try await home.runImport()
        #expect(result.status == .exited(2), "\(result.errors)")
        let count = besidesOthers ? 2 : 1
        #expect(result.text.contains("\(count) items: \(count) copied, 0 were there, 0 left"), "\(result.text)")
        #expect(result.text.contains("Keychain “locked.keyring” stays behind: "))
        #expect(try await home.login().map(\.label) == ["one"])
    }

    @Test("a portal's secret opens the keyring of a Flatpak program, and becomes the password of no keychain")
    func import_portalSecret_opensKeyring() async throws {
        let home = try ImportHome()
        let secret = (0..<64).map { UInt8(0xff - $0) }
        let quoted = "$'" + secret.map { "\\x" + String($0, radix: 16) }.joined() + "'"
        try await home.store("mail", password: quoted, in: "default.keyring")
        let file = home.folder.path("default.keyring")
        let arguments = ["import", "--password-fd", "0", file]
        let alone = try await Command.run(
            ImportHome.executable,
            arguments,
            environment: home.environment,
            // One line break at the end is not part of a password.
            input: secret + [10]
        )
        #expect(alone.status == .exited(2))
        #expect(alone.text.contains("there is no password for a new keychain “default”"), "\(alone.errors)")
    }
}

extension ImportHome {
    /// Stores an item in a keyring of libsecret's file backend, whose password Bash reads.
    fileprivate func store(_ label: String, password: String, in path: String) async throws {
        let script = "SECRET_FILE_TEST_PASSWORD=\(password) secret-tool store --label=\(label) n \(label)"
        let result = try await Command.run(
            "bash",
            ["-c", script],
            environment: ["SECRET_BACKEND": "file", "SECRET_FILE_TEST_PATH": folder.path(path)],
            input: Array("secret".utf8)
        )
        try #require(result.succeeded, "\(result.errors)")
    }
}
