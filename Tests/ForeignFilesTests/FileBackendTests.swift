import Foundation
import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Keyrings that libsecret's file backend writes, as oo7 does.
struct FileBackendTests {
    @Test("A keyring gives the items that libsecret stored, of all sizes")
    func keyring_givesWhatLibsecretStored() async throws {
        let keyring = try await FileBackend.make([
            .init(label: "one", attributes: ["a": "b"], secret: Array("secret".utf8)),
            .init(label: "Lä bel ", attributes: ["a": "c", "ö": "x y"], secret: Array("pä ss\n".utf8)),
            // oo7 keeps the content type so.
            .init(
                label: "",
                attributes: ["xdg:content-type": "application/octet-stream", "xdg:schema": "org.example"],
                secret: Array(1...255)
            ),
            .init(label: "long", attributes: ["a": "d"], secret: Array(repeating: 120, count: 8000)),
        ])
        let (items, summary) = try read(keyring.path, password: "password")
        #expect(items.map(\.label) == ["one", "Lä bel ", "", "long"])
        #expect(
            items.map(\.attributes) == [
                ["a": "b"], ["a": "c", "ö": "x y"], ["xdg:schema": "org.example"], ["a": "d"],
            ]
        )
        #expect(items.map(\.secret) == keyring.items.map(\.secret))
        #expect(items.map(\.contentType) == ["text/plain", "text/plain", "application/octet-stream", "text/plain"])
        #expect(items.allSatisfy { $0.keychain == "made" && $0.created == $0.modified && $0.created ?? 0 > 1 << 30 })
        #expect(summary.items == 4 && summary.losses.isEmpty)
    }

    @Test("A keyring gives the items that oo7 stored, of both content types and its own")
    func keyring_ofOo7_givesWhatItStored() throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures"
        let (items, summary) = try read(fixtures + "/oo7-0.6.0.keyring", password: "password")
        let bytes = "application/octet-stream"
        // As in make_oo7.py.
        let expected: [(String, [String: String], [UInt8], String)] = [
            ("", ["n": "2", "xdg:schema": "org.example.Note"], Array(0...255), bytes),
            ("Mail", ["service": "mail", "user": "anna"], Array("pä ss".utf8), "text/plain"),
            ("Secret Portal token for org.example.Mail", ["app_id": "org.example.Mail"], Array(0..<64), bytes),
            ("long", ["n": "4"], Array(repeating: 120, count: 300), "text/plain"),
            ("no attributes", [:], Array("bare".utf8), "text/plain"),
            ("no secret", ["n": "3"], [], "text/plain"),
            ("replaced", ["n": "1", "ö": "x y", "empty": ""], Array("new".utf8), bytes),
            ("twin", ["n": "6"], Array("first".utf8), "text/plain"),
            ("twin", ["n": "6"], Array("second".utf8), "text/plain"),
            ("type", ["n": "5"], Array("<p>".utf8), "text/html"),
        ]
        let sorted = items.sorted { ($0.label, $0.text) < ($1.label, $1.text) }
        #expect(sorted.map(\.label) == expected.map(\.0))
        #expect(sorted.map(\.attributes) == expected.map(\.1))
        #expect(sorted.map(\.secret) == expected.map(\.2))
        #expect(sorted.map(\.contentType) == expected.map(\.3))
        #expect(summary.items == 10 && summary.losses.isEmpty)
    }

    @Test("Another password, or none, is told apart from a damaged file")
    func keyring_wrongPassword_isToldApart() async throws {
        let keyring = try await FileBackend.make()
        for password in ["passwort", ""] { #expect(try failure(keyring.path, password: password) == .wrongPassword) }
        let whole = try keyring.folder.bytes(of: "made.keyring")
        for count in 17..<whole.count {
            let path = try keyring.folder.write(Array(whole[..<count]), to: "cut.keyring")
            let code = try failure(path, password: "password")
            #expect(code == .damaged || code == .wrongPassword || code == .notRecognized, "of \(count) bytes")
        }
        var newer = whole
        newer[17] = 1
        #expect(try failure(keyring.folder.write(newer, to: "newer.keyring"), password: "password") == .unsupported)
    }

    @Test("No damaged keyring crashes the reader")
    func keyring_damaged_doesNotCrash() async throws {
        let keyring = try await FileBackend.make()
        try keyring.folder.tryDamaged("made.keyring", password: "password", stride: 7)
    }

    @Test("A keyring cannot ask for hours of hashing, or promise a salt that it does not have")
    func keyring_extremeNumbers_areRefused() async throws {
        let keyring = try await FileBackend.make()
        let whole = try keyring.folder.bytes(of: "made.keyring")
        // The size of the salt, and the iterations behind its 32 bytes.
        for offset in [18, 54] {
            for value: [UInt8] in [[0, 0, 0, 0], [0xff, 0xff, 0xff, 0x7f], [0xff, 0xff, 0xff, 0xff]] {
                var changed = whole
                changed.replaceSubrange(offset..<offset + 4, with: value)
                let path = try keyring.folder.write(changed, to: "changed.keyring")
                #expect(try failure(path, password: "password") == .damaged)
            }
        }
    }

    @Test("A damaged item is named, and costs no other")
    func keyring_damagedItem_isNamed() async throws {
        let keyring = try await FileBackend.make([
            .init(label: "whole", attributes: ["a": "b"]), .init(label: "damaged", attributes: ["a": "c"]),
        ])
        var bytes = try keyring.folder.bytes(of: "made.keyring")
        // In the code behind the last item.
        bytes[bytes.count - 20] ^= 1
        let (items, summary) = try read(keyring.folder.write(bytes, to: "changed.keyring"), password: "password")
        #expect(items.map(\.label) == ["whole"])
        #expect(summary.losses.map(\.item) == ["item 2 of the file"])
    }

    @Test("A keyring without items opens with any password")
    func keyring_empty_hasNoItems() async throws {
        let keyring = try await FileBackend.make()
        let clear = try await Command.run(
            "secret-tool",
            ["clear", "a", "b"],
            environment: FileBackend.environment(keyring.path)
        )
        try #require(clear.succeeded, "\(clear.errors)")
        #expect(try read(keyring.path, password: "other").items.isEmpty)
    }
}

/// A keyring that libsecret made; its password is `password`.
private struct FileBackend {
    struct Item {
        var label = "item"
        var attributes = ["a": "b"]
        var secret = Array("secret".utf8)
    }

    let folder: TemporaryFolder
    let items: [Item]

    var path: String { folder.path("made.keyring") }

    static func environment(_ path: String) -> [String: String?] {
        ["SECRET_BACKEND": "file", "SECRET_FILE_TEST_PATH": path, "SECRET_FILE_TEST_PASSWORD": "password"]
    }

    static func make(_ items: [Item] = [Item()]) async throws -> FileBackend {
        let made = FileBackend(folder: try TemporaryFolder(), items: items)
        for item in items {
            let hexadecimal = item.secret.map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }
            let result = try await Command.python(
                store,
                [item.label, hexadecimal.joined()] + item.attributes.flatMap { [$0.key, $0.value] },
                environment: environment(made.path)
            )
            try #require(result.succeeded, "\(result.errors)")
        }
        return made
    }

    /// secret-tool stores only UTF-8 since libsecret 0.21, and so do the bindings of Python.
    private static let store = """
        import ctypes, sys
        glib, libsecret = ctypes.CDLL("libglib-2.0.so.0"), ctypes.CDLL("libsecret-1.so.0")
        glib.g_hash_table_new.restype = libsecret.secret_value_new.restype = ctypes.c_void_p
        label, secret, *words = map(str.encode, sys.argv[1:])
        attributes = ctypes.c_void_p(glib.g_hash_table_new(glib.g_str_hash, glib.g_str_equal))
        for name, value in zip(words[::2], words[1::2]):
            glib.g_hash_table_insert(attributes, name, value)
        secret = bytes.fromhex(secret.decode())
        value = ctypes.c_void_p(libsecret.secret_value_new(secret, ctypes.c_ssize_t(len(secret)), b"text/plain"))
        sys.exit(not libsecret.secret_password_storev_binary_sync(None, attributes, None, label, value, None, None))
        """
}
