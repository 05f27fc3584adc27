import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Wallets that KWallet itself writes, and older ones written with Python's ciphers.
struct KWalletTests {
    /// What ksecretd shows where kwalletd5 shows no attributes, by label.
    private static let attributes: [String: [String: String]] = [
        "Folder/password": ["server": "Folder", "user": "password", "type": "plaintext"],
        "Folder/": ["server": "Folder", "user": "", "type": "plaintext"],
        "Folder/map": ["server": "Folder", "user": "map", "type": "map"],
        "Folder/stream": ["server": "Folder", "user": "stream", "type": "base64"],
        "a/b/c": ["server": "a/b", "user": "c", "type": "plaintext"],
        "xdg-desktop-portal/org.example.App": [
            "server": "xdg-desktop-portal", "user": "org.example.App", "type": "base64",
        ],
    ]

    @Test("A wallet gives the items that KWallet shows, in the form of ksecretd, and those that it loses itself")
    func wallet_givesWhatKWalletShows() async throws {
        let made = try await Wallet()
        let (items, summary) = try read(made.path, password: "password")
        let shown = Dictionary(grouping: made.shown, by: \.label).mapValues { items in
            items.map { item in
                var item = item
                if item.attributes.isEmpty { item.attributes = Self.attributes[item.label] ?? [:] }
                if item.label == "Folder/map" { item.secret = Array(Self.map.utf8) }
                return item
            }
        }
        for item in items {
            var expected = try #require(shown[item.label]?.first { $0.attributes == item.attributes })
            // KWallet shows the time of its last change where it has none.
            expected.created = item.created ?? expected.created
            expected.modified = item.modified ?? expected.modified
            var item = item
            item.created = expected.created
            item.modified = expected.modified
            // It looks for the folder `a` here, and for the entry `b/c`.
            if item.label == "a/b/c" || item.label == "Folder/" {
                #expect(expected.secret.isEmpty && item.text == "found")
            } else {
                #expect(item == expected)
            }
        }
        #expect(items.count == made.shown.count && items.count == 9 && summary.losses.isEmpty)
    }

    /// The map that the script writes, as ksecretd shows it.
    private static let map = #"{"":"","pass\"word\\":"\b\f\n\r\t\u001f/é😀","user":"anna"}"#

    @Test("A damaged map is kept as it is, and named")
    func wallet_damagedMap_isKept() throws {
        // A folder `F` with the map `m`, whose size lies.
        let map: [UInt8] = [0xff, 0, 0, 0, 0]
        let folder: [UInt8] = [0, 0, 0, 2, 0, 0x46, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0x6d, 0, 0, 0, 3, 0, 0, 0, 5] + map
        var (items, summary) = ([ReadItem](), ForeignFileSummary())
        try folder.withUnsafeBytes { bytes in
            try KWalletFile.readFolders(in: bytes, wallet: "", KWalletAttributes(), &summary) { item in
                items.append(ReadItem(item))
            }
        }
        #expect(items.map(\.secret) == [map] && summary.losses.map(\.item) == ["F/m"])
    }

    @Test("The secret of the desktop portal is among the items")
    func wallet_portalSecret_isRead() async throws {
        let made = try await Wallet()
        let item = try #require(
            try read(made.path, password: "password").items.first { $0.label == "xdg-desktop-portal/org.example.App" }
        )
        #expect(item.secret == Array(0..<64))
    }

    @Test("A wallet whose salt is gone says so")
    func wallet_withoutSalt_saysSo() async throws {
        let made = try await Wallet()
        let copy = try made.folder.write(made.folder.bytes(of: "data/kwalletd/kdewallet.kwl"), to: "alone.kwl")
        #expect(throws: ForeignFileError(.unreadable, "the wallet needs the file “alone.salt” of its folder")) {
            try read(copy, password: "password")
        }
        #expect(try failure(made.path, password: "passwort") == .wrongPassword)
    }

    @Test("Damaged attributes cost the attributes, not the secrets")
    func wallet_damagedAttributes_areNamed() async throws {
        let made = try await Wallet()
        try made.folder.write("{\"Secret Service/a\": {", to: "data/kwalletd/kdewallet_attributes.json")
        let (items, summary) = try read(made.path, password: "password")
        #expect(items.count == 9 && items.allSatisfy { $0.attributes.keys.sorted() == ["server", "type", "user"] })
        #expect(summary.losses.map(\.item) == ["kdewallet"])
    }

    @Test(
        "An old wallet opens with a password of any length",
        arguments: [0, 1, 15, 16, 17, 32, 33, 48, 49, 70].sample(oneIn: 2)
    )
    func oldWallet_anyLength_opens(count: Int) async throws {
        let password = String("pass word of seventy bytes ".repeated(to: count))
        for mode in ["CBC", "ECB"] {
            let folder = try TemporaryFolder()
            let path = try await OldWallet.make(password: password, mode: mode, in: folder)
            #expect(try read(path, password: password).items.map(\.text) == ["geheim"])
            #expect(try failure(path, password: password + "x") == .wrongPassword)
        }
    }

    @Test("No damaged wallet crashes the reader")
    func oldWallet_damaged_doesNotCrash() async throws {
        let folder = try TemporaryFolder()
        _ = try await OldWallet.make(password: "password", mode: "CBC", in: folder)
        try folder.tryDamaged("old.kwl", password: "password")
    }

    @Test(
        "Wallets of a later version, and those encrypted with GPG, are refused",
        arguments: [(0, 1), (1, 2), (2, 2), (3, 1)]
    )
    func wallet_unsupported_isRefused(index: Int, value: UInt8) async throws {
        let folder = try TemporaryFolder()
        let path = try await OldWallet.make(password: "password", mode: "CBC", in: folder)
        var bytes = try folder.bytes(of: "old.kwl")
        bytes[12 + index] = value
        #expect(try failure(folder.write(bytes, to: "changed.kwl"), password: "password") == .unsupported)
        #expect(try failure(path, password: "password") == nil)
    }
}

/// A wallet that kwalletd5 made, with entries of its own programs and of the Secret Service.
private struct Wallet {
    let folder: TemporaryFolder
    let shown: [ReadItem]

    var path: String { folder.path("data/kwalletd/kdewallet.kwl") }

    init() async throws {
        let bus = try await PrivateBus()
        folder = try TemporaryFolder()
        for name in ["data/kwalletd", "config", "run"] { _ = try folder.makeFolder(name) }
        try folder.write(
            "[Wallet]\nEnabled=true\nFirst Use=false\n[org.freedesktop.secrets]\napiEnabled=true\n",
            to: "config/kwalletrc"
        )
        _ = try folder.write((0..<56).map { UInt8($0) }, to: "data/kwalletd/kdewallet.salt")
        let environment: [String: String?] = [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"), "XDG_CONFIG_HOME": folder.path("config"),
            "XDG_RUNTIME_DIR": folder.path("run"), "QT_QPA_PLATFORM": "offscreen", "XDG_CURRENT_DESKTOP": "KDE",
        ].merging(bus.environment) { $1 }
        // The Secret Service shows only wallets that were there at the start.
        _ = try await Self.run(Self.open + Self.entries, on: bus, environment)
        let text = try await Self.run(itemsOfTheService + Self.open + Self.items, on: bus, environment)
        shown = try itemsShown(text)
    }

    /// Starts kwalletd5, runs a script and ends it, so that it writes everything.
    private static func run(
        _ script: String,
        on bus: PrivateBus,
        _ environment: [String: String?]
    ) async throws -> String {
        let watch = try await NameWatch("org.freedesktop.secrets", on: bus)
        let daemon = try ChildProcess("kwalletd5", environment: environment)
        try await watch.waitForOwner(unless: daemon)
        let result = try await Command.python(script, environment: environment)
        try #require(result.succeeded, "\(result.errors)")
        try await daemon.terminate()
        return result.text
    }

    private static let open = """
        import dbus, hashlib, struct
        bus = dbus.SessionBus()
        wallets = dbus.Interface(bus.get_object("org.kde.kwalletd5", "/modules/kwalletd5"), "org.kde.KWallet")
        key = hashlib.pbkdf2_hmac("sha512", b"password", bytes(range(56)), 50000, 56)
        wallets.pamOpen("kdewallet", dbus.ByteArray(key), 0)
        handle = wallets.open("kdewallet", dbus.Int64(0), "test", signature="sxs")

        """
    private static let entries = """
        for folder in ["Folder", "a/b", "xdg-desktop-portal"]:
            wallets.createFolder(handle, folder, "test")
        wallets.writePassword(handle, "Folder", "password", "pässword😀", "test")
        wallets.writePassword(handle, "Folder", "", "found", "test")
        wallets.writePassword(handle, "a/b", "c", "found", "test")
        encode = lambda text: text.encode("utf-16-be")
        string = lambda text: struct.pack(">I", len(encode(text))) + encode(text)
        map = struct.pack(">I", 3) + string("user") + string("anna")
        map += string('pass"word\\\\') + string("\\b\\f\\n\\r\\t\\x1f/é😀")
        map += struct.pack(">I", 0xffffffff) * 2
        wallets.writeMap(handle, "Folder", "map", dbus.ByteArray(map), "test")
        write = lambda folder, entry, value: wallets.writeEntry(
            handle, folder, entry, dbus.ByteArray(value), 2, "test", signature="issayis")
        write("Folder", "stream", bytes(range(256)))
        write("xdg-desktop-portal", "org.example.App", bytes(range(64)))
        wallets.sync(handle, "test")
        """
    private static let items = """
        path = collection("kdewallet")
        unlock(path)
        create(path, "Label é", {"a": "b", "xdg:schema": "org.x"}, b"secret")
        create(path, "Label é", {"a": "c"}, b"secret2", "text/plain; charset=utf8")
        create(path, "folder/label", {"a": "d"}, bytes(range(256)), "application/x-foo")
        wallets.sync(handle, "test")
        show(path)
        """
}

/// A wallet of the time before PBKDF2, which KWallet only reads.
private enum OldWallet {
    static func make(password: String, mode: String, in folder: TemporaryFolder) async throws -> String {
        let result = try await Command.python(script, [password, mode])
        try #require(result.succeeded, "\(result.errors)")
        return try folder.write(result.output, to: "old.kwl")
    }

    private static let script = """
        import hashlib, struct, sys
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        password, mode = sys.argv[1].encode(), sys.argv[2]
        def digest(block):
            for _ in range(2000):
                block = hashlib.sha1(block).digest()
            return block
        blocks = [digest(password[:16])]
        blocks += [digest(part) for part in [password[16:32], password[32:48], password[48:]] if part]
        sizes = {1: [20], 2: [20, 20], 3: [20, 20, 16], 4: [14] * 4}[len(blocks)]
        key = b"".join(block[:size] for block, size in zip(blocks, sizes))
        string = lambda text: struct.pack(">I", 2 * len(text)) + text.encode("utf-16-be")
        value = string("geheim")
        content = string("F") + struct.pack(">I", 1) + string("e") + struct.pack(">iI", 1, len(value)) + value
        plain = b"\\1" * 8 + struct.pack(">I", len(content)) + content
        plain += b"\\2" * (8 - (len(plain) + 20) % 8) + hashlib.sha1(content).digest()
        cipher = Cipher(algorithms.Blowfish(key), modes.CBC(bytes(8)) if mode == "CBC" else modes.ECB()).encryptor()
        md5 = lambda text: hashlib.md5(text).digest()
        sys.stdout.buffer.write(
            b"KWALLET\\n\\r\\0\\r\\n" + bytes([0, 0, 3 if mode == "CBC" else 0, 0])
            + struct.pack(">I", 1) + md5(b"F") + struct.pack(">I", 1) + md5(b"e")
            + cipher.update(plain) + cipher.finalize())
        """
}

extension String {
    fileprivate func repeated(to count: Int) -> String {
        isEmpty ? "" : String(String(repeating: self, count: count / self.count + 1).prefix(count))
    }
}
