import Glibc
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

/// What is true of files of all formats.
struct ForeignFileTests {
    @Test(
        "The first bytes say the format",
        arguments: [
            ("GnomeKeyring\n\r\0\n\0", .gnomeKeyring), ("KWALLET\n\r\0\r\n\0\u{1}", .kWallet),
            ("\n[keyring]\nctime=0\n", .gnomeKeyringText), (" {\n \"encrypted\": false", .bitwarden),
            ("name,url,username,password\n", .table), ("\"url\",\"username\",\"password\",\"guid\"\n", .table),
            ("password,note\n", nil), ("name,url\n", nil), ("", nil), ("{\"a\": 1}", nil), ("a,b,c\n", nil),
            ("GnomeKeyring\n\r\0\n\u{1}\0", .fileBackend), ("GnomeKeyring", nil), ("SQLite format 3\0", nil),
        ] as [(String, ForeignFile.Format?)]
    )
    func format_firstBytes(start: String, format: ForeignFile.Format?) {
        #expect(Array(start.utf8).withUnsafeBytes { ForeignFile.format(of: $0) } == format)
    }

    @Test("Pipes, folders and missing files are refused without waiting")
    func open_noRegularFile_isRefused() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for path in [folder.path("pipe"), folder.path, folder.path("none"), "/dev/zero"] {
            #expect(try failure(path) == .unreadable)
        }
    }

    @Test("A file that is too large is refused", arguments: ["[keyring]\n", "GnomeKeyring\n\r\0\n\u{1}\0"])
    func read_tooLarge_isRefused(start: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(start, to: "large.keyring")
        #expect(truncate(folder.path("large.keyring"), 1 << 32) == 0)
        #expect(try failure(folder.path("large.keyring")) == .tooLarge)
    }

    @Test("The error of the closure comes back, and ends the reading")
    func read_closureThrows_ends() throws {
        struct Stop: Error {}
        let folder = try TemporaryFolder()
        try folder.write("name,url,username,password\na,,u,p\nb,,u,p\n", to: "t.csv")
        var count = 0
        #expect(throws: Stop.self) {
            let none = try password()
            _ = try ForeignFile(path: folder.path("t.csv")).read(password: none) { _ in
                count += 1
                throw Stop()
            }
        }
        #expect(count == 1)
    }
}
