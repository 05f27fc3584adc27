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
        let item = try query.item()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.add(item, query) }
        result?.pointee = found.result(query.returns)
    }
}

/// Finds items in the keychain.
///
/// A person may be asked for a password or a finger, for which the function waits.
///
/// - Parameters:
///   - query: class and attributes of the items, and what to give of them.
///   - result: takes one item, or an array where ``kSecMatchLimit`` is not one; with nil the status alone says whether there is one.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(StatusError) in
        var query = try ItemQuery(query)
        guard query.data == nil else { throw StatusError(errSecParam, "a secret cannot be searched for") }
        // Whoever takes no result is not asked for a password to get one.
        if result == nil { query.returns = [] }
        let asked = query
        let search = try asked.reference == nil ? asked.search() : asked.searchIfPossible()
        let found = try BlockingCall.run { (client) throws(SecretServiceError) in try await client.read(asked, search) }
        guard let first = found.first else { throw StatusError(errSecItemNotFound, "no item matches") }
        switch asked.limit ?? .one {
        case .one: result?.pointee = first.result(asked.returns)
        case .all, .count:
            guard !asked.returns.isEmpty else { return }
            result?.pointee = found.compactMap { $0.result(asked.returns) } as NSArray
        }
    }
}

/// Changes every item that matches.
///
/// - Parameters:
///   - query: class and attributes of the items; no limit, and nothing to return.
///   - attributesToUpdate: what is to be different; everything else stays.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(query)
        var changes = try ItemQuery(attributesToUpdate)
        guard !query.hasSearchParameters, query.data == nil, changes.isOnlyChanges else {
            throw StatusError(errSecParam, "an update takes what to change and what to change it to, and no more")
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
/// - Parameter query: class and attributes of the items.
/// - Returns: ``errSecSuccess``, ``errSecItemNotFound``, or what went wrong.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(StatusError) in
        let query = try ItemQuery(query)
        guard query.returns.isEmpty, query.data == nil else {
            throw StatusError(errSecParam, "of what is deleted nothing is given")
        }
        let search = try query.reference == nil ? query.search() : query.searchIfPossible()
        let count = try BlockingCall.run { (client) throws(SecretServiceError) in
            try await client.delete(query, search)
        }
        guard count > 0 else { throw StatusError(errSecItemNotFound, "no item matches") }
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

extension ItemQuery {
    /// What to hold an item against that is named by a reference; nothing if the query has no class.
    fileprivate func searchIfPossible() throws(StatusError) -> ItemSearch? {
        itemClass == nil ? nil : try search()
    }

    /// Whether it says what is to be different, and nothing else.
    fileprivate var isOnlyChanges: Bool {
        !hasSearchParameters && itemClass == nil && reference == nil && !ignoresCase && synchronizable != .any
            && !(values.isEmpty && data == nil && synchronizable == nil && label == nil)
    }
}
