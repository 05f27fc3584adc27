/// D-Bus interfaces of the Secret Service (#2) and of keychaind.
enum InterfaceName {
    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let session = "org.freedesktop.Secret.Session"
    static let prompt = "org.freedesktop.Secret.Prompt"
    /// Extensions use interfaces of their own (#132).
    static let keychainCollection = "org.keychaind.Collection1"
    static let keychainItem = "org.keychaind.Item1"
    static let key = "org.keychaind.Key1"
    static let keys = "org.keychaind.Keys1"
    static let search = "org.keychaind.Search1"
    static let keySlots = "org.keychaind.KeySlots1"
    /// From gnome-keyring, for Seahorse and scripts.
    static let masterPasswords = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
    /// From the desktop portal, for its backends.
    static let portalSecret = "org.freedesktop.impl.portal.Secret"
    static let portalRequest = "org.freedesktop.impl.portal.Request"
    static let portal = "org.keychaind.Portal1"
    static let status = "org.keychaind.Status1"
    static let audit = "org.keychaind.Audit1"
    static let sandboxes = "org.keychaind.Sandboxes1"
    static let rules = "org.keychaind.Rules1"
    static let backups = "org.keychaind.Backups1"
    static let authentication = "org.keychaind.Authentication1"
    static let context = "org.keychaind.Authentication1.Context"
}
