import DBus

extension SecretCollection {
    /// Makes an item unless there is one with the same values of some attributes; the provider sees to it that two programs which
    /// do this at once do not both succeed.
    ///
    /// Throws ``SecretServiceError/Code/alreadyExists`` if there is one.
    ///
    /// - Parameter unique: the names of the attributes; one that an item does not have is the same as one that another does not have.
    /// - Returns: nil if the provider is another than keychaind and cannot do that.
    package func createUniqueItem(
        label: String,
        attributes: [String: String],
        unique: [String],
        secret: borrowing Secret,
        prompting: SecretPrompting
    ) async throws(SecretServiceError) -> SecretItem? {
        do throws(SecretServiceError) {
            return try await createItem(label, attributes, secret, prompting, interface: Protocol.keychaindCollection) {
                $0.append(false, unique)
            }
        } catch  where [ErrorName.unknownMethod, .unknownInterface].map(\.rawValue).contains(error.errorName) {
            return nil
        }
    }
}
