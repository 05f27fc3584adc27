import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Arguments of CreateItem.
struct CreationRequest: ~Copyable {
    let description: ItemDescription
    /// What the attributes state.
    let protection: Protection?
    let secret: Secret
    let replacing: Bool

    /// Throws `InvalidArgs` if the reserved attributes are invalid.
    init(description: ItemDescription, secret: consuming Secret, replacing: Bool) throws(BusError) {
        protection = try Items.checkProtection(in: description.attributes)
        self.description = description
        self.secret = secret
        self.replacing = replacing
    }

    /// Reads the arguments, and wipes the secret from the message even if they are invalid.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        // The first argument, the properties, holds no secret.
        defer { call.message.wipeByteArrays(leaving: 1) }
        var reader = call.message.makeReader()
        let description = try ItemDescription(from: &reader)
        let secret = try call.client.sessions.readSecret(&reader)
        let replacing = try Bool(from: &reader)
        try self.init(description: description, secret: secret, replacing: replacing)
    }

    consuming func takeSecret() -> Secret { secret }
}

/// Properties of a new item (#93).
struct ItemDescription {
    private(set) var label = ""
    private(set) var attributes = Attributes()
    /// The caller's context that has the application password of the item; nil to ask a person.
    private(set) var context: ObjectPath?
    /// The times of a copied item; nil for the time of the change.
    private(set) var times = CopiedTimes()

    private enum Property: Int, CaseIterable {
        case label, attributes, type, context, created, modified

        private static let wireNames =
            ["Label", "Attributes", "Type"].map { WireName("\(InterfaceName.item).\($0)") }
            + ["Context", "Created", "Modified"].map { WireName("\(InterfaceName.keychainItem).\($0)") }

        var wireName: WireName { Property.wireNames[rawValue] }
    }

    init(label: String, attributes: Attributes) {
        self.label = label
        self.attributes = attributes
    }

    /// Reads an `a{sv}` with full property names.
    ///
    /// Skips unknown properties (#51); throws `InvalidArgs` for a wrong type (#45).
    init(from reader: inout Reader) throws(BusError) {
        var type: String?
        try reader.readDictionary(limit: ServiceLimits.propertiesPerCall) { (reader) throws(BusError) in
            switch try reader.withString({ name in Property.allCases.first { $0.wireName.matches(name) } }) {
            case .label: label = try reader.readVariant(of: String.self)
            case .attributes: attributes = try reader.readVariant(of: Attributes.self)
            case .type: type = try reader.readVariant(of: String.self)
            case .context: context = try reader.readVariant(of: ObjectPath.self)
            case .created: times.created = Timestamp(seconds: try reader.readVariant(of: UInt64.self))
            case .modified: times.modified = Timestamp(seconds: try reader.readVariant(of: UInt64.self))
            case nil: reader.skip()
            }
        }
        // The stamp is the daemon's alone, and other programs copy all attributes of an item.
        attributes = attributes.stamped(by: nil)
        // The type of version 0.1 is a schema; one among the attributes wins.
        if let type, attributes[Attributes.schema] == nil {
            attributes = attributes.setting(Attributes.schema, to: type)
        }
    }
}

extension Attributes {
    /// The property `Type` of version 0.1, which clients still read: the attribute `xdg:schema` (#104).
    var type: String { self[Attributes.schema] ?? Attributes.genericSchema }
}

extension Attributes {
    /// Returns the attributes, with the protection of others where these state none.
    ///
    /// A program that replaces an item need not repeat its access control. The binding to enrolled fingers goes with
    /// it.
    func keepingProtection(of others: Attributes) -> Attributes {
        let accessControl = ReservedAttribute.accessControl.rawValue
        var names = [ReservedAttribute.accessible.rawValue]
        if self[accessControl] == nil { names += [accessControl, BiometryBinding.attribute] }
        var kept = self
        for name in names where self[name] == nil {
            if let value = others[name] { kept = kept.setting(name, to: value) }
        }
        return kept
    }
}
