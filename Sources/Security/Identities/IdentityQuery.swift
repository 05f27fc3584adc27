import KeychainModel

/// A query for identities, taken apart: what it says of the certificate, and what of the key.
struct IdentityQuery: Sendable {
    let certificate: ItemQuery
    private let key: ItemQuery
    let returns: ItemQuery.Returns
    let limit: Int

    init(_ query: ItemQuery) throws(StatusError) {
        let located = try query.located()
        returns = query.returns
        limit = query.limit?.count ?? 1
        certificate = IdentityQuery.part(.certificate, of: located)
        var key = IdentityQuery.part(.key, of: located)
        key.values[.keyClass] = .text(KeyClass.private.code)
        key.label = nil
        key.reference = nil
        key.limit = .one
        self.key = key
    }

    /// The key that belongs to a public key.
    func key(hash: [UInt8]) -> ItemQuery? {
        var query = key
        if let label = query.values[.applicationLabel], label != .data(hash) { return nil }
        query.values[.applicationLabel] = .data(hash)
        return query
    }

    /// The parts of an identity that is to be added.
    static func additions(
        _ query: ItemQuery
    ) throws(StatusError) -> [(item: KeychainItem, query: ItemQuery)] {
        guard case .identity(let identity)? = query.object else {
            throw StatusError(errSecParam, "an identity is added by a reference to one")
        }
        var key = part(.key, of: query)
        key.object = .key(identity.key)
        var certificate = part(.certificate, of: query)
        certificate.object = .certificate(identity.certificate)
        return [try key.addition(), try certificate.addition()]
    }

    private static func part(_ itemClass: ItemClass, of query: ItemQuery) -> ItemQuery {
        var part = query
        part.isIdentity = false
        part.itemClass = itemClass
        part.limit = .all
        part.object = nil
        part.reference = query.reference?.ofCertificate
        part.values = query.values.filter { itemClass.has($0.key) }
        part.returns = [.attributes]
        if !query.returns.isDisjoint(with: itemClass == .key ? [.reference] : [.reference, .data]) {
            part.returns.insert(.data)
        }
        return part
    }
}
