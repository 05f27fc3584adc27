import KeychainModel

extension ItemQuery {
    /// What to store: bytes and attributes of the key or certificate that the query names or has as data, which has to be one.
    func addition() throws(StatusError) -> (item: KeychainItem, query: ItemQuery) {
        var query = self
        switch (itemClass, object) {
        case (.certificate, let object):
            let certificate =
                if case .certificate(let certificate)? = object { certificate } else {
                    try SecCertificate(data ?? [])
                }
            query.data = certificate.bytes
            query.label = label ?? certificate.contents.summary
            try query.take(certificate.contents.values())
        case (.key, .key(let key)):
            query.data = key.material.bytes
            try query.take(key.material.values())
            query.values[.isPermanent] = .boolean(true)
        case (.key, _):
            guard let data else { throw StatusError(errSecParam, "there is no key to add") }
            // What is not said to be a key of some kind is bytes.
            if let keyType, let keyClass {
                try query.take(KeyMaterial(data, type: keyType, keyClass: keyClass).values())
            }
            query.values[.isPermanent] = .boolean(true)
        default:
            break
        }
        return (try query.item(), query)
    }

    /// The query with what its object says of the items that are meant: one item, if it was read from one.
    func located() throws(StatusError) -> ItemQuery {
        guard let object else { return self }
        var query = self
        query.object = nil
        query.reference = object.reference
        if query.reference == nil { try query.take(object.values()) }
        return query
    }

    /// Takes what is worked out of data; the program may say the same, and may choose what a key is looked up by.
    private mutating func take(_ workedOut: [KeychainAttribute: KeychainValue]) throws(StatusError) {
        for (attribute, value) in workedOut {
            guard let own = values[attribute], own != value else {
                values[attribute] = value
                continue
            }
            guard attribute == .applicationLabel else {
                throw StatusError(errSecParam, "the data has another \(attribute.rawValue) than the query")
            }
        }
    }
}
