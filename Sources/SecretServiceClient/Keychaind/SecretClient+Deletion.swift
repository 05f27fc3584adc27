import KeychaindDBus

/// `DeleteItems` of `org.keychaind.Collection1`, an interface of keychaind alone.
extension SecretClient {
    /// Deletes items of one collection in one step, or none of them.
    ///
    /// Returns false, and has deleted nothing, if they must be deleted one by one: with another provider, if they are
    /// in several collections or too many at once, and if a person must be asked about one. Throws what the deletion of
    /// one of them would.
    package func deleteAtOnce(_ items: [SecretItem]) async throws(SecretServiceError) -> Bool {
        guard let collection = Self.collection(of: items) else { return false }
        let message = Protocol.call(collection, Protocol.keychaindCollection, "DeleteItems")
        message.append(items.map(\.objectPath))
        do throws(SecretServiceError) {
            _ = try await call(message)
            return true
        } catch  where error.isOfMissingMethod || [.notSupported, .limitExceeded].contains(error.code) {
            return false
        }
    }

    /// The path of the collection of all the items; nil if there is none.
    private static func collection(of items: [SecretItem]) -> ObjectPath? {
        guard let first = items.first, let end = first.path.lastIndex(of: "/") else { return nil }
        let collection = first.path[..<end]
        let areTogether = items.allSatisfy { item in
            item.path.lastIndex(of: "/").map { end in item.path[..<end] == collection } ?? false
        }
        return areTogether ? ObjectPath(String(collection)) : nil
    }
}
