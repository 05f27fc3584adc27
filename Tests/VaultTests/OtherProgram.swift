import Foundation
import KeychaindModel
import KeychaindTestSupport
import Testing

/// A program in `Fixtures`, written from docs/file-format.md.
struct OtherProgram {
    /// The program rejected the file or lacks a dependency.
    struct Refusal: Error {
        let complaints: String
    }

    let name: String

    /// Runs the program and returns its output.
    ///
    /// Fails without python3-cryptography and python3-argon2, which `make test` installs.
    func run(_ arguments: [String], input text: String) async throws -> Data {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/" + name
        let result = try await Command.run("/usr/bin/python3", ["-B", script] + arguments, input: Array(text.utf8))
        guard result.succeeded else { throw Refusal(complaints: result.errors) }
        return Data(result.output)
    }
}

/// Reads collections, and verifies hash, tags and order.
struct OtherReader {
    struct Contents: Decodable {
        struct Item: Decodable {
            let id: UInt64
            let label: String
            let attributes: [String: String]
            let created: Int64
            let modified: Int64
            let contentType: String
            let secret: String?

            /// The secret as text; nil when it was not opened.
            var text: String? {
                secret.map { secret in String(decoding: OtherReader.bytes(hexadecimal: secret), as: UTF8.self) }
            }
        }

        let label: String
        let created: Int64
        let modified: Int64
        let items: [Item]

        /// The application secret of org.example.Mail.
        let applicationSecret: String

        /// The keys that need the passcode, each byte complemented.
        let keys: [String]

        /// The key of the secrets, each byte complemented.
        let secretsKey: String
    }

    private let arguments: [String]

    init(_ folder: TemporaryFolder, file: String = "login.keychain", login: String? = nil) {
        arguments = [folder.file(file), folder.file("index.key")] + (login.map { [folder.file($0)] } ?? [])
    }

    /// Reads the collection; the program documents its output.
    func read(passwords: String) async throws -> Contents {
        let printed = try await OtherProgram(name: "read_keychain.py").run(arguments, input: passwords)
        return try JSONDecoder().decode(Contents.self, from: printed)
    }

    /// Decodes hexadecimal digits.
    static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Changes collections like a program with the password.
struct OtherWriter {
    private let folder: TemporaryFolder
    private let password: String

    init(_ folder: TemporaryFolder, password: String) {
        self.folder = folder
        self.password = password
    }

    /// Replaces an attribute of an item in `login`.
    func exchangeAttribute(of id: ItemID, _ old: String, for name: String, value: String) async throws {
        _ = try await OtherProgram(name: "exchange_attribute.py").run(
            [folder.file("login.keychain"), folder.file("index.key"), id.description, old, name, value],
            input: password
        )
    }
}
