import KeychaindForeignFiles
import KeychaindGcrypt
package import KeychaindLanguage

/// The secret that a provider's Secret portal gave to an application, which keychaind keeps for its own portal.
package struct PortalSecret: Sendable {
    /// Empty for programs outside of a sandbox.
    package let application: String
    let keychain: String
    let item: ImportedItem

    private static let size = 64
    /// The folder of KDE's portal in a wallet, as the beginning of labels.
    private static let folder = "xdg-desktop-portal/"
    /// gnome-keyring gives it to items without a schema when it starts.
    private static let genericSchema = "org.freedesktop.Secret.Generic"

    /// Recognises the item of a portal secret in the keychain that a login opens; nil for others.
    init?(_ item: ImportedItem, of provider: ForeignProvider, in keychain: SourceKeychain) {
        guard keychain.isLogin, item.item.secret.count == PortalSecret.size,
            let application = PortalSecret.application(of: item.item, from: provider)
        else { return nil }
        self.application = application
        self.keychain = keychain.name
        self.item = item
    }

    private static func application(of item: borrowing ForeignItem, from provider: ForeignProvider) -> String? {
        switch provider {
        case .gnomeKeyring:
            var attributes = item.attributes
            if attributes["xdg:schema"] == genericSchema { attributes["xdg:schema"] = nil }
            guard item.label.isEmpty, attributes.count == 1 else { return nil }
            return attributes["app_id"]
        case .kwallet:
            guard item.attributes.isEmpty, item.label.hasPrefix(folder) else { return nil }
            return String(item.label.dropFirst(folder.count))
        }
    }

    /// The application as people read it.
    package var name: Text {
        application.isEmpty ? Text("programs outside of a sandbox") : Text(verbatim: application)
    }

    func left(_ reason: Text) -> LeftItem {
        LeftItem(label: Text("portal secret of \(name)").english, keychain: keychain, reason: reason)
    }
}
