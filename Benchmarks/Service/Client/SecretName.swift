import KeychaindDBus

/// The Secret Service names used by the client.
enum SecretName {
    static let bus = "org.freedesktop.secrets"
    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let prompt = "org.freedesktop.Secret.Prompt"
    static let session = "org.freedesktop.Secret.Session"
    static let properties = "org.freedesktop.DBus.Properties"

    static let servicePath = ObjectPath(unchecked: "/org/freedesktop/secrets")
    static let encryptedAlgorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
}
