public import Foundation
import KeychaindModel
import SecretServiceClient

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: the class, attributes and secret of the item.
///   - result: receives the results that the keys `kSecReturn…` request.
/// - Returns: ``errSecSuccess``, ``errSecDuplicateItem`` if an item with the same primary key exists, or another code.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(attributes)
        guard query.limit == nil, query.reference == nil, !query.hasMatchConditions else {
            throw StatusError(errSecParam, "the item to add has search parameters")
        }
        guard !query.isIdentity else { return try IdentityQuery.add(query, result) }
        let (item, added) = try query.addition()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.add(item, added) }
        result?.pointee = try found.result(query.returns)
    }
}

/// Finds items in the keychain.
///
/// May ask a person for a password or a finger, and waits for it.
///
/// - Parameters:
///   - query: the class and attributes of the items, and the requested results; ``kSecValueData`` is ignored.
///   - result: receives one item, or an array if ``kSecMatchLimit`` is not one; nil to test for existence.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or another code.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(StatusError) in
        var query = try ItemQuery(query)
        // Without a result, no secret is needed and no dialog is shown.
        if result == nil { query.returns = [] }
        guard !query.isIdentity else { return try IdentityQuery.copy(query, result) }
        let asked = try query.located()
        let search = try asked.reference == nil ? asked.search() : asked.searchIfPossible()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.read(asked, search) }
        try deliver(found, asked, to: result) { (item) throws(StatusError) in try item.result(asked.returns) }
    }
}

/// Changes all matching items, or none if one of them cannot be changed.
///
/// - Parameters:
///   - query: the class and attributes of the items, without limit or requested results; ``kSecValueData`` is ignored.
///   - attributesToUpdate: the changes.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or another code.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(query).located()
        var changes = try ItemQuery(attributesToUpdate, of: query.isIdentity ? .key : query.itemClass)
        guard !query.hasSearchParameters, changes.isOnlyChanges else {
            throw StatusError(errSecParam, "an update takes a query without results and a dictionary of changes only")
        }
        guard !query.isIdentity else { return try IdentityQuery.update(query, changes) }
        let search = try query.reference == nil ? query.search() : query.searchIfPossible()
        changes.itemClass = search?.itemClass
        try changes.checkAttributes()
        let asked = changes
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.update(query, search, with: asked)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
    }
}

/// Deletes all matching items permanently.
///
/// keychaind deletes up to 128 items of one keychain at once, or none of them. Others are deleted one by one, and an
/// error may come after some.
///
/// - Parameter query: the class and attributes of the items; ``kSecValueData`` and the keys `kSecReturn…` are ignored,
///   so a dictionary for adding works too.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, ``errSecParam`` for a query with a limit other than
///   ``kSecMatchLimitAll``, or another code.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        var query = try ItemQuery(query)
        guard query.limit?.count ?? .max == .max else {
            throw StatusError(errSecParam, "a deletion takes no limit other than kSecMatchLimitAll")
        }
        guard !query.isIdentity else { return try IdentityQuery.delete(query) }
        query = try query.located()
        let asked = query
        let search = try query.reference == nil ? query.search() : query.searchIfPossible()
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.delete(asked, search)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
    }
}

/// Stores the first result, or an array of all.
func deliver<Found>(
    _ found: [Found],
    _ query: ItemQuery,
    to result: UnsafeMutablePointer<CFTypeRef?>?,
    _ object: (Found) throws(StatusError) -> CFTypeRef?
) throws(StatusError) {
    guard let first = found.first else { throw StatusError(errSecItemNotFound, "no item matches") }
    switch query.limit ?? .one {
    case .one: result?.pointee = try object(first)
    case .all, .count:
        guard !query.returns.isEmpty else { return }
        var objects: [CFTypeRef] = []
        for item in found {
            if let object = try object(item) { objects.append(object) }
        }
        result?.pointee = objects as NSArray
    }
}

extension ItemQuery {
    /// The search that an item named by a reference must match; nil without a class.
    fileprivate func searchIfPossible() throws(StatusError) -> ItemSearch? {
        itemClass == nil ? nil : try search()
    }

    /// Whether the dictionary contains changes and nothing else.
    fileprivate var isOnlyChanges: Bool {
        !hasSearchParameters && itemClass == nil && !isIdentity && reference == nil && object == nil
            && !hasMatchConditions && synchronizable != .any
            && !(values.isEmpty && data == nil && synchronizable == nil && label == nil)
    }
}
