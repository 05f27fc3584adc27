public import Foundation
import KeychainModel
import SecretServiceClient

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: class, attributes and secret of the item.
///   - result: takes what the keys `kSecReturn…` ask for.
/// - Returns: ``errSecSuccess``, ``errSecDuplicateItem`` if there is an item with the same primary key, or what went wrong.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(attributes)
        guard query.limit == nil, query.reference == nil, !query.ignoresCase else {
            throw StatusError(errSecParam, "an item that is added is not searched for")
        }
        guard !query.isIdentity else { return try addIdentity(query, result) }
        let (item, added) = try query.addition()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.add(item, added) }
        result?.pointee = try found.result(query.returns)
    }
}

/// Finds items in the keychain.
///
/// A person may be asked for a password or a finger, for which the function waits.
///
/// - Parameters:
///   - query: class and attributes of the items, and what to give of them; ``kSecValueData`` in it makes no difference.
///   - result: takes one item, or an array where ``kSecMatchLimit`` is not one; with nil the status alone says whether there is one.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(StatusError) in
        var query = try ItemQuery(query)
        // Whoever takes no result is not asked for a password to get one.
        if result == nil { query.returns = [] }
        guard !query.isIdentity else { return try copyIdentities(query, result) }
        let asked = try query.located()
        let search = try asked.reference == nil ? asked.search() : asked.searchIfPossible()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.read(asked, search) }
        try give(found, asked, to: result) { (item) throws(StatusError) in try item.result(asked.returns) }
    }
}

/// Changes every item that matches.
///
/// - Parameters:
///   - query: class and attributes of the items; no limit, and nothing to return. ``kSecValueData`` in it makes no difference.
///   - attributesToUpdate: what is to be different; everything else stays.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(query).located()
        var changes = try ItemQuery(attributesToUpdate, of: query.itemClass)
        guard !query.hasSearchParameters, changes.isOnlyChanges else {
            throw StatusError(errSecParam, "an update takes what to change and what to change it to, and no more")
        }
        guard !query.isIdentity else {
            throw StatusError(errSecUnimplemented, "certificate and key are changed by themselves")
        }
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

/// Deletes every item that matches; there is no undo.
///
/// - Parameter query: class and attributes of the items; ``kSecValueData`` and the keys `kSecReturn…` in it make no difference, so that
///   the dictionary of a later addition can be used.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        var query = try ItemQuery(query)
        guard !query.isIdentity else { return try deleteIdentities(query) }
        query = try query.located()
        let asked = query
        let search = try query.reference == nil ? query.search() : query.searchIfPossible()
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.delete(asked, search)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
    }
}

/// Gives the first thing that was found, or all in an array, as the query wants.
private func give<Found>(
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

private func status(of operation: () throws(StatusError) -> Void) -> OSStatus {
    do throws(StatusError) {
        try operation()
        return errSecSuccess
    } catch {
        return error.status
    }
}

// MARK: Identities

private func addIdentity(
    _ query: ItemQuery,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) throws(StatusError) {
    let parts = try IdentityQuery.additions(query)
    try BlockingCall.run { (client) throws(SecretServiceError) in try await client.addIdentity(parts) }
    guard !query.returns.isEmpty, case .identity(let identity)? = query.object else { return }
    // Not by the items that it may have been read from once.
    var added = query
    added.object = .identity(SecIdentity(try SecCertificate(identity.certificate.bytes), SecKey(identity.key.material)))
    try copyIdentities(added, result)
}

private func copyIdentities(
    _ query: ItemQuery,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) throws(StatusError) {
    let identities = try IdentityQuery(query)
    let found = try BlockingCall.run { (client) throws(SecretServiceError) in
        try await client.readIdentities(identities)
    }
    try give(found, query, to: result) { (identity) throws(StatusError) in try identity.result(query.returns) }
}

private func deleteIdentities(_ query: ItemQuery) throws(StatusError) {
    var query = query
    query.limit = query.limit ?? .all
    let identities = try IdentityQuery(query)
    let count = try BlockingCall.run { (client) throws(SecretServiceError) in
        try await client.deleteIdentities(identities)
    }
    guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
}

extension ItemQuery {
    /// What to hold an item against that is named by a reference; nothing if the query has no class.
    fileprivate func searchIfPossible() throws(StatusError) -> ItemSearch? {
        itemClass == nil ? nil : try search()
    }

    /// Whether it says what is to be different, and nothing else.
    fileprivate var isOnlyChanges: Bool {
        !hasSearchParameters && itemClass == nil && !isIdentity && reference == nil && object == nil && !ignoresCase
            && synchronizable != .any
            && !(values.isEmpty && data == nil && synchronizable == nil && label == nil)
    }
}
