import DBus

/// Names of the Secret Service (spec #2, #3).
enum Protocol {
    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let session = "org.freedesktop.Secret.Session"
    static let prompt = "org.freedesktop.Secret.Prompt"

    /// keychaind's own interfaces, of the same objects and of others.
    static let keychaindCollection = "org.keychaind.Collection1"
    static let keychaindItem = "org.keychaind.Item1"
    static let authentication = "org.keychaind.Authentication1"
    static let context = "org.keychaind.Authentication1.Context"

    static let serviceObject = ObjectPath(unchecked: "/org/freedesktop/secrets")
    static let authenticationObject = ObjectPath(unchecked: "/org/keychaind/Authentication")

    /// The algorithm of a session that does not encrypt.
    static let plain = "plain"

    /// The algorithm of a session that does (spec #26).
    static let diffieHellman = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// A call of the provider, its destination to be set when that is known.
    static func call(_ path: ObjectPath, _ interface: String, _ member: String) -> Message {
        Message.call(to: ProviderLink.providerName, path, interface, member)
    }
}
