import KeychaindDBus

/// A reference to a collection or an item, which can be locked and may no longer exist.
///
/// Two references are equal if path and client are.
public protocol SecretObject: Hashable, Sendable {
    /// The client that found it.
    var client: SecretClient { get }

    /// Its object path on the bus.
    var path: String { get }

    /// Whether it is locked: secrets cannot be read, and nothing can be changed.
    func isLocked() async throws(SecretServiceError) -> Bool
}

extension SecretObject {
    /// Unlocks it if it is locked; may ask a person.
    ///
    /// A provider may lock it again at any time. Throws ``SecretServiceError/Code/locked`` if the provider did not
    /// unlock it, although no person refused.
    public func unlock(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        guard try await client.unlock([path], prompting) == [path] else {
            throw SecretServiceError(.locked, "the provider did not unlock the object")
        }
    }

    /// Locks it; a provider that cannot lock a single item locks its collection.
    public func lock(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        try await client.lock([path], prompting)
    }

    /// Compares path and client.
    public static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.client === right.client
    }

    /// Hashes path and client.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(ObjectIdentifier(client))
    }

    var objectPath: ObjectPath { ObjectPath(unchecked: path) }
}
