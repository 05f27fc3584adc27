import KeychaindForeignFiles
import KeychaindGcrypt
package import KeychaindLanguage
import KeychaindModel

/// The secret that a provider's Secret portal gave to an application, which keychaind keeps for its own portal.
package struct PortalSecret: Sendable {
    /// Empty for programs outside of a sandbox.
    package let application: String
    let keychain: String
    let item: ImportedItem

    private static let size = 64
    /// Of gnome-keyring since 48; older ones have no schema, or the generic one since a start of the provider.
    private static let gnomeSchema = "org.freedesktop.portal.Secret"
    /// The folder of KDE's portal in a wallet, and the beginning of labels.
    private static let kdeFolder = "xdg-desktop-portal"

    /// Recognises the item of a portal secret in the keychain that a login opens; nil for others.
    ///
    /// Labels are for people, and do not matter.
    init?(_ item: ImportedItem, of provider: ForeignProvider, in keychain: SourceKeychain) {
        guard keychain.isLogin || keychain.isDefault,
            let application = PortalSecret.application(of: item.item, from: provider)
        else { return nil }
        self.application = application
        self.keychain = keychain.name
        self.item = item
    }

    private static func application(of item: borrowing ForeignItem, from provider: ForeignProvider) -> String? {
        let hasSize = item.secret.count == size
        switch provider {
        case .gnomeKeyring:
            guard let application = item.attributes["app_id"] else { return nil }
            if item.attributes[Attributes.schema] == gnomeSchema { return application }
            // Programs have such an attribute, too, beside others.
            let isAlone = Attributes(item.attributes.map { ($0.key, $0.value) }).compared.count == 1
            return isAlone && hasSize ? application : nil
        case .kwallet:
            // ksecretd gives its entries these attributes when it is started again.
            if item.attributes["server"] == kdeFolder, let application = item.attributes["user"] { return application }
            let beginning = kdeFolder + "/"
            guard item.label.hasPrefix(beginning), hasSize else { return nil }
            return String(item.label.dropFirst(beginning.count))
        }
    }

    /// Why keychaind cannot take it over; nil if it can.
    var obstacle: Text? {
        let count = item.item.secret.count
        return count == PortalSecret.size ? nil : Text("it has \(count) bytes, and not \(PortalSecret.size)")
    }

    /// The application as people read it.
    package var name: Text {
        application.isEmpty ? Text("programs outside of a sandbox") : Text(verbatim: application)
    }

    func left(_ reason: Text) -> LeftItem {
        LeftItem(label: Text("portal secret of \(name)").english, keychain: keychain, reason: reason)
    }
}
