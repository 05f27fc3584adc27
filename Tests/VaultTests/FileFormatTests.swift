import Foundation
import Gcrypt
import KeychainModel
import Testing
import Vault

/// Another implementation, written from docs/file-format.md, reads what the vault wrote.
@VaultActor
@Suite struct FileFormatTests {
    private struct Contents: Decodable {
        struct Item: Decodable {
            let id: UInt64
            let label: String
            let attributes: [String: String]
            let created: Int64
            let modified: Int64
            let contentType: String
            let secret: String
        }

        let label: String
        let created: Int64
        let modified: Int64
        let items: [Item]
    }

    /// The other program did not like the file, or lacks what it needs.
    private struct Refusal: Error {
        let complaints: String
    }

    private let folder = TemporaryFolder()
    private let clock = TestClock()

    @Test func document_readByAnotherProgram_isTrue() async throws {
        var configuration = Fixture.configuration(folder, clock: clock)
        configuration.keyDerivation = Argon2id(memoryKiB: 256, iterations: 2, lanes: 2)
        let vault = try await Vault.opened(configuration)
        let login = try await vault.unlockedLogin("pässword")
        let first = try await login.createItem(
            label: "First ☃",
            attributes: ["service": "mail", "": "", "ключ": "значение"],
            secret: Fixture.secret([0, 255, 10], contentType: "application/octet-stream"),
            replacing: false
        ).id
        let second = try await login.add("second", [:], secret: String(repeating: "long", count: 5000))
        let third = try await login.add("third", ["a": "b"])
        clock.advance(seconds: 3)
        try await login.updateItem(first, label: "Changed")
        try await login.updateItem(third, secret: Fixture.secret("new", contentType: ""))
        try await login.deleteItem(second)
        let fourth = try await login.add("fourth", ["n": "4"], secret: "")
        try await login.setLabel("My passwords")
        await vault.close()

        let contents = try JSONDecoder().decode(Contents.self, from: read(password: "pässword"))
        #expect(contents.label == "My passwords")
        #expect(contents.modified == contents.created + 3_000_000)
        #expect(contents.items.map(\.id) == [first, third, fourth].map(\.rawValue))
        #expect(contents.items.map(\.label) == ["Changed", "third", "fourth"])
        #expect(contents.items.map(\.secret) == ["00ff0a", "6e6577", ""])
        #expect(contents.items.map(\.contentType) == ["application/octet-stream", "", "text/plain"])
        #expect(contents.items[0].attributes == ["service": "mail", "": "", "ключ": "значение"])
        #expect(contents.items[0].modified == contents.items[0].created + 3_000_000)
        #expect(contents.items[2].modified == contents.items[2].created)
    }

    @Test func document_wrongPassword_opensNothing() async throws {
        let vault = try await Vault.opened(Fixture.configuration(folder))
        _ = try await vault.unlockedLogin()
        await vault.close()
        let refusal = #expect(throws: Refusal.self) { _ = try read(password: "wrong") }
        #expect(refusal?.complaints.contains("InvalidTag") == true)
    }

    /// What the other program prints; it checks the sums, the tags and the order by itself.
    private func read(password: String) throws -> Data {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/read_keychain.py"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [script, folder.file("login.keychain"), folder.file("index.key")]
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        input.fileHandleForWriting.write(Data(password.utf8))
        try input.fileHandleForWriting.close()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // Without python3-cryptography and python3-argon2, which `make test` installs, this fails rather than passes by.
        guard process.terminationStatus == 0 else { throw Refusal(complaints: complaints) }
        return printed
    }
}
