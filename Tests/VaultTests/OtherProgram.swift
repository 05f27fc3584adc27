import Foundation
import KeychainModel
import TestSupport
import Testing

/// A program of the folder `Fixtures`, written from docs/file-format.md.
struct OtherProgram {
    /// The program did not like the file, or lacks what it needs.
    struct Refusal: Error {
        let complaints: String
    }

    let name: String

    /// What the program prints.
    ///
    /// Without python3-cryptography and python3-argon2, which `make test` installs, it refuses rather than passes by.
    func run(_ arguments: [String], input text: String) async throws -> Data {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/" + name
        let result = try await Command.run("/usr/bin/python3", ["-B", script] + arguments, input: Array(text.utf8))
        guard result.succeeded else { throw Refusal(complaints: result.errors) }
        return Data(result.output)
    }
}

/// Reads collections, and checks the sums, the tags and the order.
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

        /// What the application org.example.Mail gets from the portal.
        let applicationSecret: String

        /// The keys that only the passcode gives, each byte complemented.
        let keys: [String]
    }

    private let arguments: [String]

    init(_ folder: TemporaryFolder, file: String = "login.keychain", login: String? = nil) {
        arguments = [folder.file(file), folder.file("index.key")] + (login.map { [folder.file($0)] } ?? [])
    }

    /// Reads the collection; see the program for what the lines are.
    func read(passwords: String) async throws -> Contents {
        let printed = try await OtherProgram(name: "read_keychain.py").run(arguments, input: passwords)
        return try JSONDecoder().decode(Contents.self, from: printed)
    }

    /// The bytes of hexadecimal digits.
    static func bytes(hexadecimal text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Changes collections as a program with the password could.
struct OtherWriter {
    private let folder: TemporaryFolder
    private let password: String

    init(_ folder: TemporaryFolder, password: String) {
        self.folder = folder
        self.password = password
    }

    /// Gives an item of login another attribute in place of one.
    func exchangeAttribute(of id: ItemID, _ old: String, for name: String, value: String) async throws {
        _ = try await OtherProgram(name: "exchange_attribute.py").run(
            [folder.file("login.keychain"), folder.file("index.key"), id.description, old, name, value],
            input: password
        )
    }
}
