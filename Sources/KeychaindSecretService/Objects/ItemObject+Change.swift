import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// `Change` of `org.keychaind.Item1`.
extension ItemObject {
    /// Sets label, attributes and secret in one write, as far as they are given.
    @BusActor
    func change(_ call: MethodCall) async throws(BusError) {
        let change = try ItemChange(from: call)
        let (label, attributes, key) = (change.label, change.attributes, change.key)
        guard let secret = change.takeSecret() else {
            return try await update(label: label, attributes: attributes, ifUnique: key)
        }
        try await items.keys.check(secret, attributes ?? item.attributes, for: client)
        try await update(label: label, attributes: attributes, secret: secret, ifUnique: key)
    }

    /// The kind of change that the new values make.
    @BusActor
    func action(changingTo new: Protection?, label: String?, _ attributes: Attributes?, hasSecret: Bool) -> ItemAction {
        switch (attributes.map { _ in action(changingTo: new, label: label) }, label, hasSecret) {
        case (let action?, _, false): action
        case (.changeProtection, _, true), (.removeProtection, _, true): .changeWithProtection
        case (.some, _, true), (nil, .some, true): .change
        case (nil, nil, true): .changeSecret
        case (nil, let label, false): .rename(label ?? item.label)
        }
    }
}

/// Arguments of `Change`.
private struct ItemChange: ~Copyable {
    let label: String?
    let attributes: Attributes?
    /// The values that no other item may have; nil if any may be shared.
    let key: UniqueKey?
    let secret: Secret?

    /// Reads the arguments, and wipes the secret from the message even if they are invalid.
    @BusActor
    init(from call: MethodCall) throws(BusError) {
        defer { call.message.wipeByteArrays(leaving: 1) }
        var (label, attributes): (String?, Attributes?)
        var unique: [String]?
        var secret: Secret?
        var reader = call.message.makeReader()
        try reader.readDictionary(limit: ServiceLimits.propertiesPerCall) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case InterfaceName.item + ".Label": label = try reader.readVariant(of: String.self)
            case InterfaceName.item + ".Attributes": attributes = try reader.readVariant(of: Attributes.self)
            case InterfaceName.keychainItem + ".Unique":
                unique = try reader.readVariant { (reader) throws(BusError) in try UniqueKey.readNames(&reader) }
            case let name: throw BusError(.invalidArguments, "the property \(name) cannot be changed")
            }
        }
        try reader.readArray(limit: 1) { (reader) throws(BusError) in
            secret = try call.client.sessions.readSecret(&reader)
        }
        key = try unique.map { (names) throws(BusError) in
            guard let attributes else { throw BusError(.invalidArguments, "unique attributes need all attributes") }
            return try UniqueKey(of: attributes, names: names)
        }
        self.label = label
        self.attributes = attributes
        self.secret = secret
    }

    consuming func takeSecret() -> Secret? { secret }
}
