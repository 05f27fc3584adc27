import KeychainModel

extension ItemQuery {
    /// Reads attributes of a class that name no class themselves.
    init(_ attributes: CFDictionary, keysOf itemClass: ItemClass) throws(StatusError) {
        try self.init(attributes, of: itemClass)
        guard self.itemClass == nil || self.itemClass == itemClass, !hasSearchParameters, reference == nil,
            object == nil
        else { throw StatusError(errSecParam, "these are not attributes of a key") }
        self.itemClass = itemClass
        try checkAttributes()
    }

    /// The type of key that it names.
    var keyType: KeyType? {
        guard case .text(let code)? = values[.keyType] else { return nil }
        return KeyType(code: code)
    }

    /// The class of key that it names.
    var keyClass: KeyClass? {
        guard case .text(let code)? = values[.keyClass] else { return nil }
        return KeyClass(code: code)
    }
}
