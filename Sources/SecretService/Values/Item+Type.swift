import KeychainModel
import Vault

extension Item {
    /// The property `Type` of version 0.1, which clients still ask for: what is now the attribute `xdg:schema` (#104).
    var type: String {
        attributes[Attributes.schema] ?? "org.freedesktop.Secret.Generic"
    }
}

extension Attributes {
    static let schema = "xdg:schema"

    /// These, with another schema.
    func with(type: String) -> Attributes {
        with([(Attributes.schema, type)])
    }
}
