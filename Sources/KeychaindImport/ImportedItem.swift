package import KeychaindForeignFiles
package import KeychaindGcrypt
package import KeychaindLanguage
package import SecretServiceClient

/// An item in memory for the time of the import, of the source or of keychaind.
package final class ImportedItem: Sendable {
    package let item: ForeignItem
    /// Nil for an item of a file.
    package let reference: SecretItem?

    package init(_ item: consuming ForeignItem, reference: SecretItem? = nil) {
        self.item = item
        self.reference = reference
    }

    /// The parts that differ from another item with the same attributes.
    func differences(from other: ImportedItem) -> [Difference] {
        var differences: [Difference] = []
        if !item.secret.isEqual(to: other.item.secret) { differences.append(.secret) }
        if item.contentType != other.item.contentType { differences.append(.contentType) }
        if item.label != other.item.label { differences.append(.label) }
        return differences
    }

    /// A part of an item besides its attributes.
    package enum Difference: String, Sendable {
        case secret
        case contentType = "content type"
        case label

        /// The part, as a person reads it.
        package var text: Text {
            switch self {
            case .secret: Text("secret")
            case .contentType: Text("content type")
            case .label: Text("label")
            }
        }
    }
}

/// A keychain of a source, with its items.
package struct SourceKeychain: Sendable {
    package let name: String
    /// Whether new items go there, and a login opens it: it becomes keychaind's `login`.
    package var isLogin = false
    package var isDefault = false
    /// Whether programs ask for it by its name, as those of KDE do.
    package var keepsLabel = false
    /// Nil if it is unknown, as when another program has asked for it.
    package var password: Password?
    package var items: [ImportedItem] = []
    /// Items that are for keychaind's portal instead of a keychain.
    package var portalSecrets: [PortalSecret] = []
    /// Labels of items that could not be read, or must not be imported, with the reason.
    package var left: [LeftItem] = []

    package init(name: String) {
        self.name = name
    }

    var isEmpty: Bool { items.isEmpty && portalSecrets.isEmpty && left.isEmpty }
}

/// An item that was not imported.
package struct LeftItem: Sendable {
    package let label: String
    package let keychain: String
    package let reason: Text
}

/// A password, shared by the steps of an import, and wiped at the end of the last.
package final class Password: Sendable {
    package let bytes: SecureBytes

    package init(_ bytes: consuming SecureBytes) {
        self.bytes = bytes
    }

    /// The empty password, with which some keychains are stored in clear text.
    static func empty() throws(GcryptError) -> Password { Password(try SecureBytes(count: 0)) }

    package var isEmpty: Bool { bytes.isEmpty }

    /// Whether it is UTF-8, as what a person types is; the secret of a portal is not.
    var isText: Bool {
        bytes.withUnsafeBytes { bytes in
            var (decoder, input) = (UTF8(), bytes.makeIterator())
            while true {
                switch decoder.decode(&input) {
                case .scalarValue: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }
}
