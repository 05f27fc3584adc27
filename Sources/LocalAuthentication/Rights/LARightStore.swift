public import Foundation

/// The rights of this program that the keychain keeps.
public final class LARightStore: Sendable {
    /// The only one.
    public static let shared = LARightStore()

    private init() {}

    /// A right that was saved; asks nobody.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        LAPersistedRight(identifier, LAAuthenticationRequirement(try await RightItem(identifier).constraints()))
    }

    /// Saves a right without a secret.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await saveRight(right, identifier: identifier, secret: Data())
    }

    /// Saves a right with a secret.
    ///
    /// Throws an error with `errSecDuplicateItem` if there is one with the same identifier.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        try await RightItem(identifier).add(secret, right.requirement)
        return LAPersistedRight(identifier, right.requirement)
    }

    /// Removes a right and its secret, for which the person has to prove the same as for reading it.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightItem(right.identifier).delete(in: right.context)
    }

    /// Removes a right and its secret, for which the person has to prove the same as for reading it.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await RightItem(identifier).delete(in: LAContext())
    }

    /// Removes all rights of this program, for which the person has to prove the same as for reading them.
    public func removeAllRights() async throws {
        try await RightItem.deleteAll()
    }
}
