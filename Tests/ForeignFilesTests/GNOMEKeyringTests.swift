import Glibc
import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Keyrings that gnome-keyring itself writes.
struct GNOMEKeyringTests {
    @Test("A keyring gives the items that gnome-keyring shows", arguments: ["password", ""])
    func keyring_givesWhatGnomeKeyringShows(password: String) async throws {
        let made = try await Keyring(password: password, Self.items)
        let (items, summary) = try read(made.path, password: password)
        for item in items { #expect(made.shown.contains(item)) }
        #expect(items.count == 5 && summary.items == 5 && summary.losses.isEmpty)
    }

    @Test("The secret of the desktop portal is among the items")
    func keyring_portalSecret_isRead() async throws {
        let made = try await Keyring(
            password: "password",
            """
            import os
            reader, writer = os.pipe()
            bus.get_object(NAME, "/org/freedesktop/portal/desktop").RetrieveSecret(
                dbus.ObjectPath("/org/freedesktop/portal/desktop/request/1"), "org.example.App",
                dbus.types.UnixFd(writer), dbus.Dictionary({}, signature="sv"),
                dbus_interface="org.freedesktop.impl.portal.Secret")
            print(os.read(reader, 100).hex())
            """,
            shows: false
        )
        let item = try #require(try read(made.path, password: "password").items.first)
        #expect(item.attributes["app_id"] == "org.example.App")
        let hex = item.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(made.output == hex + "\n")
    }

    @Test("A wrong password is told apart from a damaged file")
    func keyring_wrongPassword_isToldApart() async throws {
        let made = try await Keyring(password: "password", Self.items)
        #expect(try failure(made.path, password: "passwort") == .wrongPassword)
        let whole = try made.folder.bytes(of: made.file)
        let beginning = try made.folder.write(Array(whole.dropLast(16)), to: "short.keyring")
        #expect(try failure(beginning, password: "password") == .damaged)
        var newer = whole
        newer[16] = 2
        #expect(try failure(made.folder.write(newer, to: "newer.keyring"), password: "password") == .unsupported)
    }

    @Test("No damaged keyring crashes the reader", arguments: ["password", ""])
    func keyring_damaged_doesNotCrash(password: String) async throws {
        let made = try await Keyring(password: password, Self.small)
        try made.folder.tryDamaged(made.file, password: password)
    }

    @Test("A keyring cannot ask for hours of hashing, or promise items that it does not have")
    func keyring_extremeNumbers_areRefused() async throws {
        let made = try await Keyring(password: "password", Self.items)
        let whole = try made.folder.bytes(of: made.file)
        // Behind the name "Login": times, flags, timeout, iterations, salt, reserved, number of items.
        for offset in [0, 4, 8].map({ 29 + 16 + $0 }) + [29 + 52] {
            for value: [UInt8] in [[0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0xff]] {
                var changed = whole
                changed.replaceSubrange(offset..<offset + 4, with: value)
                _ = try failure(made.folder.write(changed, to: "changed"), password: "password")
            }
        }
        var iterations = whole
        iterations.replaceSubrange(53..<57, with: [0x7f, 0xff, 0xff, 0xff])
        #expect(try failure(made.folder.write(iterations, to: "changed"), password: "password") == .damaged)
    }

    @Test("Secrets with line breaks, which gnome-keyring cannot read any more, are recovered")
    func text_secretsWithLines_areRecovered() async throws {
        let secret = "-----BEGIN KEY-----\\na=b\\n[1]x\\n\\n  indented\\n-----END KEY-----\\n"
        let made = try await Keyring(
            password: "",
            """
            create(login, "key", {"a": "b"}, b"\(secret)")
            create(login, "after", {"a": "c"}, b"two")
            """,
            shows: false
        )
        let (items, summary) = try read(made.path)
        let texts = Dictionary(uniqueKeysWithValues: items.map { ($0.attributes["a"], $0.text) })
        #expect(texts == ["b": secret.replacingEscapes, "c": "two"])
        #expect(summary.losses.isEmpty)
    }

    @Test("What a key file cannot keep is named")
    func text_ambiguousSecrets_areNamed() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            """
            [keyring]
            display-name=My\\sKeys

            [7]
            display-name=slash
            secret=a\\\\b
            mtime=5
            ctime=4

            [8]
            display-name=nothing
            mtime=5

            [9]
            display-name=odd
            binary-secret=abc
            mtime=5

            [10]
            item-type=1
            display-name=last
            secret=end

            """,
            to: "a.keyring"
        )
        let (items, summary) = try read(path)
        #expect(items.map(\.text) == ["a\\\\b", "", "end"])
        #expect(items.first?.keychain == "My Keys")
        #expect(items.last?.attributes == ["xdg:schema": "org.gnome.keyring.NetworkPassword"])
        #expect(summary.losses.map(\.item) == ["slash", "odd", "last"])
    }

    private static let items = """
        create(login, "plain", {"a": "b", "number": "7"}, b"secret")
        create(login, "Läbel with spaces ", {"xdg:schema": "org.example", "ä": " x\\\\y\\tz"}, "pä ss".encode())
        create(login, "binary", {"a": "c"}, bytes(range(256)))
        create(login, "empty", {}, b"")
        create(login, "", {"a": "d"}, b"x" * 7000)
        """
    private static let small = """
        create(login, "plain", {"a": "b", "number": "7"}, b"secret")
        create(login, "binary", {"ä": "c"}, bytes(range(250, 256)))
        """
}

/// A keyring `login` that gnome-keyring made.
private struct Keyring {
    let folder: TemporaryFolder
    let output: String

    private static let login = "login = collection(\"login\")\n"
    /// A keyring with an empty password is a text.
    private static let plain = """
        login = service.CreateWithMasterPassword(
            dbus.Dictionary({S + "Collection.Label": "Plain"}, signature="sv"),
            dbus.Struct((session, dbus.ByteArray(b""), dbus.ByteArray(b""), "text/plain"), signature="oayays"),
            dbus_interface="org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")

        """
    /// The items that gnome-keyring shows before it ends.
    let shown: [ReadItem]

    /// The path of the keyring in the folder.
    let file: String

    var path: String { folder.path(file) }

    init(password: String, _ script: String, shows: Bool = true) async throws {
        let bus = try await PrivateBus()
        folder = try TemporaryFolder()
        let environment = ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
            .merging(bus.environment) { $1 }
        file = password.isEmpty ? "keyrings/Plain.keyring" : "keyrings/login.keyring"
        output = try await Self.run((password.isEmpty ? Self.plain : Self.login) + script, on: bus, environment)
        // In a later session items without a schema have gnome-keyring's generic one.
        let show = "show(collection(\"\(password.isEmpty ? "Plain" : "login")\"))"
        shown = shows ? try itemsShown(try await Self.run(show, on: bus, environment)) : []
    }

    /// Starts gnome-keyring, runs a script and ends it, so that it writes everything.
    private static func run(
        _ script: String,
        on bus: PrivateBus,
        _ environment: [String: String?]
    ) async throws -> String {
        let watch = try await NameWatch("org.freedesktop.secrets", on: bus)
        let daemon = try ChildProcess(
            "gnome-keyring-daemon",
            ["--foreground", "--unlock", "--components=secrets"],
            environment: environment,
            input: Array("password".utf8)
        )
        try await watch.waitForOwner(unless: daemon)
        let result = try await Command.python(itemsOfTheService + script, environment: environment)
        try #require(result.succeeded, "\(result.errors)")
        try await daemon.terminate()
        return result.text
    }
}

extension String {
    fileprivate var replacingEscapes: String {
        split(separator: "\\n", omittingEmptySubsequences: false).joined(separator: "\n")
    }
}
