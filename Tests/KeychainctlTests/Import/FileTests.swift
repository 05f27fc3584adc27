import Foundation
import KeychaindTestSupport
import Testing

/// `keychainctl import FILE`, and files of a provider that is not installed.
struct FileTests {
    private static let logins = """
        name,url,username,password,note
        Bank,https://bank.example/,anna,"se,cret",
        ,https://mail.example/,anna,p\u{1B}[2J,

        """

    @Test("a browser's table goes into login, once")
    func import_table_copiesLogins() async throws {
        let home = try ImportHome()
        let file = try home.folder.write(Self.logins, to: "Chrome Passwords.csv")
        let first = try await home.runImport([file])
        #expect(first.status == .success, "\(first.errors)")
        #expect(first.text.contains("2 items: 2 copied"))
        let items = try await home.login()
        #expect(items.map(\.secret).contains(Array("se,cret".utf8)))
        #expect(items.allSatisfy { $0.attributes["xdg:schema"] == "org.keychaind.ImportedLogin" })
        #expect(try await home.runImport([file]).text.contains("0 copied, 2 were there"))
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: file))) == Array(Self.logins.utf8))
    }

    @Test("a table of 1 GiB is refused by a line that names the record")
    func import_hugeTable_isRefused() async throws {
        let home = try ImportHome()
        let file = try home.folder.write("name,url,username,password\n", to: "huge.csv")
        // Without blocks on the disk.
        #expect(truncate(file, 1 << 30) == 0)
        let result = try await home.runImport([file])
        #expect(result.status == .exited(9))
        #expect(result.errors.contains("record 2 of the file has more than 4 MiB"), "\(result.errors)")
    }

    @Test("what was imported is said although the report cannot be written")
    func import_reportCannotBeWritten_saysWhatWasDone() async throws {
        let home = try ImportHome()
        let file = try home.folder.write(Self.logins, to: "logins.csv")
        _ = try home.folder.makeFolder("state/keychaind")
        try home.folder.write("", to: "state/keychaind/imports")
        let result = try await home.runImport([file])
        #expect(result.status == .exited(10) && result.errors.contains("the report "), "\(result.errors)")
        #expect(result.text.contains("2 items: 2 copied"), "\(result.text)")
    }

    @Test("several files are one import")
    func import_severalFiles_areOneImport() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(attributes: ["n": "1"])])
        let keyring = home.folder.path("data/keyrings/login.keyring")
        let table = try home.folder.write(Self.logins, to: "logins.csv")
        let result = try await home.runImport([keyring, table])
        #expect(result.text.contains("3 items: 3 copied"), "\(result.errors)")
        #expect(try home.reports.count == 1)
    }

    @Test("a file that cannot be read stays behind, and the others are imported")
    func import_oneBadFile_stopsNoOther() async throws {
        let home = try ImportHome()
        let table = try home.folder.write(Self.logins, to: "logins.csv")
        let files = [home.folder.path("none"), table, try home.folder.write("hello", to: "greeting")]
        let result = try await home.runImport(files)
        #expect(result.status == .exited(2), "\(result.errors)")
        #expect(result.text.contains("2 items: 2 copied"))
        #expect(result.text.contains("Keychain “none” stays behind: \(files[0]): the file cannot be opened"))
        #expect(result.text.contains("Keychain “greeting” stays behind: \(files[2]): the file is none of"))
        #expect(try home.reports.first?["skippedKeychains"] as? [String] == ["none", "greeting"])
    }

    @Test("the files of a provider that is not installed are read directly, each by itself")
    func import_providerNotInstalled_readsItsFiles() async throws {
        let home = try ImportHome()
        try home.writePlainKeyring([PlainItem(attributes: ["n": "1"]), PlainItem(attributes: ["n": "2"])])
        try home.folder.write("damaged", to: "data/keyrings/damaged.keyring")
        let programs = try home.folder.makeFolder("programs")
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/dbus-daemon",
            withDestinationPath: "/usr/bin/dbus-daemon"
        )
        let result = try await home.runImport(environment: ["PATH": programs])
        #expect(result.status == .exited(2), "\(result.errors)")
        #expect(result.text.contains("2 items: 2 copied"))
        #expect(result.text.contains("Keychain “damaged.keyring” stays behind: "))
    }

    @Test(
        "a file that cannot be imported ends with its status, and nothing is written",
        arguments: [
            ("hello", Int32(9), "none of gnome-keyring"), ("", 9, "none of gnome-keyring"),
            ("{\"encrypted\": true}", 9, "encrypted"), ("GnomeKeyring\n\r\0\n\0\0\0\0", 9, "damaged"),
        ]
    )
    func import_badFile_isRefused(content: String, status: Int32, message: String) async throws {
        let home = try ImportHome()
        let file = try home.folder.write(content, to: "file")
        let result = try await home.runImport([file])
        #expect(result.status == .exited(status))
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
    }

    @Test("a name with control characters reaches the terminal escaped")
    func import_nameWithControlCharacters_isEscaped() async throws {
        let home = try ImportHome()
        let result = try await home.runImport(["/no\u{1B}[2Jfile"])
        #expect(result.status == .exited(10))
        #expect(result.errors.contains("/no\\u{1b}[2Jfile"))
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test("a provider and files at once are wrong usage")
    func import_providerAndFile_isWrongUsage() async throws {
        let result = try await ImportHome().runImport(["--from", "kwallet", "file"])
        #expect(result.status == .exited(64))
    }
}
