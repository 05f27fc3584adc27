import Foundation
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindTestSupport

/// An item that was read, as a value that tests compare.
struct ReadItem: Equatable, Sendable {
    var keychain = ""
    var label = ""
    var attributes: [String: String] = [:]
    var secret: [UInt8] = []
    var contentType = "text/plain"
    var created: UInt64?
    var modified: UInt64?

    var text: String { String(decoding: secret, as: UTF8.self) }
}

extension ReadItem {
    init(_ item: borrowing ForeignItem) {
        self.init(
            keychain: item.keychain,
            label: item.label,
            attributes: item.attributes,
            secret: item.secret.withUnsafeBytes { Array($0) },
            contentType: item.contentType,
            created: item.created,
            modified: item.modified
        )
    }
}

/// A password for the readers.
func password(_ text: String = "") throws -> SecureBytes {
    try SecureBytes(copying: Array(text.utf8))
}

/// Reads a file.
func read(_ path: String, password text: String = "") throws -> (items: [ReadItem], summary: ForeignFileSummary) {
    var items: [ReadItem] = []
    let password = try password(text)
    let summary = try ForeignFile(path: path).read(password: password) { items.append(ReadItem($0)) }
    return (items, summary)
}

/// The code of the error with which reading a file fails; nil if it does not.
func failure(_ path: String, password: String = "") throws -> ForeignFileError.Code? {
    do {
        _ = try read(path, password: password)
        return nil
    } catch let error as ForeignFileError {
        return error.code
    }
}

extension TemporaryFolder {
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Reads all beginnings of a file, and the file with each byte changed; a crash would end the tests.
    ///
    /// - Parameter stride: the distance of the positions.
    func tryDamaged(_ file: String, password: String = "", stride distance: Int = 1) throws {
        let whole = try bytes(of: file)
        for position in stride(from: 0, to: whole.count, by: distance).sample(oneIn: 4) {
            _ = try failure(write(Array(whole[..<position]), to: "damaged"), password: password)
            var changed = whole
            changed[position] ^= 0xff
            _ = try failure(write(changed, to: "damaged"), password: password)
        }
    }
}

/// Python that prints the items of the first collection of the Secret Service, one JSON object per line.
let itemsOfTheService = """
    import dbus, dbus.mainloop.glib, json, sys
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    S, NAME = "org.freedesktop.Secret.", "org.freedesktop.secrets"
    service = bus.get_object(NAME, "/org/freedesktop/secrets")
    get = lambda path, interface, name: bus.get_object(NAME, path).Get(
        S + interface, name, dbus_interface="org.freedesktop.DBus.Properties")
    session = service.OpenSession("plain", dbus.String("", variant_level=1), dbus_interface=S + "Service")[1]
    def collection(name):
        return [p for p in get("/org/freedesktop/secrets", "Service", "Collections") if p.endswith("/" + name)][0]
    def unlock(path):
        prompt = service.Unlock(dbus.Array([path], signature="o"), dbus_interface=S + "Service")[1]
        if prompt != "/":
            loop = GLib.MainLoop()
            bus.add_signal_receiver(lambda *_: loop.quit(), "Completed", S + "Prompt")
            bus.get_object(NAME, prompt).Prompt("", dbus_interface=S + "Prompt")
            loop.run()
    def create(path, label, attributes, secret, kind="text/plain"):
        properties = {S + "Item.Label": label, S + "Item.Attributes": dbus.Dictionary(attributes, signature="ss")}
        bus.get_object(NAME, path).CreateItem(
            dbus.Dictionary(properties, signature="sv"),
            dbus.Struct((session, dbus.ByteArray(b""), dbus.ByteArray(secret), kind), signature="oayays"),
            False, dbus_interface=S + "Collection")
    def show(path):
        # A keyring without a password is locked until somebody asks, and then opens without a dialog.
        service.Unlock(dbus.Array([path], signature="o"), dbus_interface=S + "Service")
        for item in get(path, "Collection", "Items"):
            try:
                secret = bus.get_object(NAME, item).GetSecret(session, dbus_interface=S + "Item")
            except dbus.DBusException:  # gnome-keyring loses an empty secret in a text
                secret = (session, b"", b"", "text/plain")
            attributes = {str(k): str(v) for k, v in get(item, "Item", "Attributes").items()}
            print(json.dumps({
                "keychain": str(get(path, "Collection", "Label")), "label": str(get(item, "Item", "Label")),
                "attributes": attributes, "secret": [int(byte) for byte in secret[2]], "contentType": str(secret[3]),
                "created": int(get(item, "Item", "Created")), "modified": int(get(item, "Item", "Modified"))}))

    """

/// Reads the lines of that script.
func itemsShown(_ text: String) throws -> [ReadItem] {
    struct Line: Decodable {
        let keychain, label, contentType: String
        let attributes: [String: String]
        let secret: [UInt8]
        let created, modified: UInt64
    }
    return try text.split(separator: "\n").map {
        let line = try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        return ReadItem(
            keychain: line.keychain,
            label: line.label,
            attributes: line.attributes,
            secret: line.secret,
            contentType: line.contentType,
            created: line.created,
            modified: line.modified
        )
    }
}
