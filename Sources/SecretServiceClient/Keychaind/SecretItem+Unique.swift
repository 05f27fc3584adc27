import DBus

extension SecretItem {
    /// Sets label and attributes at once, unless another item of the collection has the same values of some attributes; the provider
    /// sees to it that of two programs which do this at once only one succeeds.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if there is one.
    ///
    /// - Parameter unique: the names of the attributes; one that an item does not have is the same as one that another does not have.
    /// - Returns: whether it was done; not if the provider is another than keychaind and cannot do that.
    package func updateUnique(
        label: String,
        attributes: [String: String],
        unique: [String]
    ) async throws(SecretServiceError) -> Bool {
        try ArgumentCheck.check(label, attributes)
        let message = Protocol.call(objectPath, Protocol.keychaindItem, "Update")
        message.append(label, attributes, unique)
        do throws(SecretServiceError) {
            _ = try await client.call(message)
            return true
        } catch  where [ErrorName.unknownMethod, .unknownInterface].map(\.rawValue).contains(error.errorName) {
            return false
        }
    }
}
