import DBus

/// A collection or an item of a provider: what can be locked.
///
/// It names the object and holds nothing of it; the object may have gone. Two are equal if they have the same path and client.
public protocol SecretObject: Hashable, Sendable {
    /// The client through which it was found.
    var client: SecretClient { get }

    /// Its path on the bus.
    var path: String { get }

    /// Whether it is locked: its secrets cannot be read, and nothing of it can be changed.
    func isLocked() async throws(SecretServiceError) -> Bool
}

extension SecretObject {
    /// Unlocks it, if it is locked; a person may have to be asked.
    ///
    /// A provider may lock it again at any time. Throws ``SecretServiceError/Code/locked`` if the provider did not unlock it, though
    /// nobody said no.
    public func unlock(prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        guard try await client.unlock([path], prompting) == [path] else {
            throw SecretServiceError(.locked, "the provider did not unlock it")
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

    /// Feeds the path and the client.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(ObjectIdentifier(client))
    }

    var objectPath: ObjectPath { ObjectPath(unchecked: path) }
}
