public import Foundation

/// The rights of this program that are stored in the keychain.
public final class LARightStore: Sendable {
    /// The only instance.
    public static let shared = LARightStore()

    private init() {}

    /// Reads a stored right; does not ask the person.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        LAPersistedRight(identifier, LAAuthenticationRequirement(try await RightItem(identifier).constraints()))
    }

    /// Stores a right without a secret.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await saveRight(right, identifier: identifier, secret: Data())
    }

    /// Stores a right with a secret.
    ///
    /// Throws an error with `errSecDuplicateItem` if the identifier exists.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        try await RightItem(identifier).add(secret, right.requirement)
        return LAPersistedRight(identifier, right.requirement)
    }

    /// Deletes a right and its secret; needs the same authentication as reading it.
    public func removeRight(_ right: LAPersistedRight) async throws {
        // The keys first: without its item, the right could not be deleted again after a failure.
        try await RightKey(right.identifier).delete(in: right.context)
        try await RightItem(right.identifier).delete(in: right.context)
    }

    /// Deletes a right and its secret; needs the same authentication as reading it.
    public func removeRight(forIdentifier identifier: String) async throws {
        let context = LAContext()
        try await RightKey(identifier).delete(in: context)
        try await RightItem(identifier).delete(in: context)
    }

    /// Deletes all rights of this program; needs the same authentication as reading them.
    public func removeAllRights() async throws {
        try await RightItem.deleteAll()
        try await RightKey.deleteAll()
    }
}
