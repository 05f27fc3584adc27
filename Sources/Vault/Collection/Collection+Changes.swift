import Gcrypt
package import KeychainModel

extension Collection {
    /// Makes an item, or gives the newest item with equal attributes a new label, attributes and secret when `replacing` (#94).
    ///
    /// A replaced item keeps its number and its time of creation (#95). When this returns, the disk has it. Throws `locked`,
    /// `limitExceeded`, and what the disk may; then nothing has changed.
    package func createItem(
        label: String,
        attributes: Attributes,
        secret: consuming Secret,
        replacing: Bool
    ) async throws(VaultError) -> ItemCreation {
        try check(label: label, attributes: attributes)
        try check(secret)
        let request = PendingMutation.Request.create(
            label: label,
            attributes: attributes,
            secret: SharedSecret(secret),
            replacing: replacing
        )
        guard case .item(let creation) = try await perform(PendingMutation(request)) else {
            throw VaultError(.storageFailed, reason: "a new item got no number")
        }
        return creation
    }

    /// Gives an item another label, other attributes or another secret; what is nil stays as it is.
    ///
    /// When this returns, the disk has it. Throws `locked`, `noSuchItem`, `limitExceeded`, `unreadable` for a damaged item, and what
    /// the disk may; then nothing has changed.
    package func updateItem(
        _ id: ItemID,
        label: String? = nil,
        attributes: Attributes? = nil,
        secret: consuming Secret?
    ) async throws(VaultError) {
        try check(label: label ?? "", attributes: attributes ?? Attributes())
        var shared: SharedSecret?
        if let secret = consume secret {
            try check(secret)
            shared = SharedSecret(secret)
        }
        _ = try await perform(
            PendingMutation(.update(id, label: label, attributes: attributes, secret: shared))
        )
    }

    /// Gives an item another label or other attributes, and leaves its secret alone.
    package func updateItem(
        _ id: ItemID,
        label: String? = nil,
        attributes: Attributes? = nil
    ) async throws(VaultError) {
        try await updateItem(id, label: label, attributes: attributes, secret: nil)
    }

    /// Removes an item, a damaged one too.
    ///
    /// When this returns, the disk has it. Throws `locked`, `noSuchItem`, and what the disk may.
    package func deleteItem(_ id: ItemID) async throws(VaultError) {
        _ = try await perform(PendingMutation(.delete(id)))
    }

    /// Gives the collection another label.
    ///
    /// When this returns, the disk has it. Throws `locked`, `limitExceeded`, and what the disk may.
    package func setLabel(_ label: String) async throws(VaultError) {
        try check(label: label, attributes: Attributes())
        _ = try await perform(PendingMutation(.rename(label)))
    }

    private func check(label: String, attributes: Attributes) throws(VaultError) {
        let limits = context.configuration.limits
        guard label.utf8.count <= limits.labelBytes else {
            throw VaultError(.limitExceeded, reason: "a label has at most \(limits.labelBytes) bytes")
        }
        guard attributes.packed.count <= limits.attributeBytes else {
            throw VaultError(.limitExceeded, reason: "attributes have at most \(limits.attributeBytes) bytes")
        }
        guard attributes.count <= limits.attributes else {
            throw VaultError(.limitExceeded, reason: "an item has at most \(limits.attributes) attributes")
        }
    }

    private func check(_ secret: borrowing Secret) throws(VaultError) {
        let limits = context.configuration.limits
        guard secret.bytes.count <= limits.secretBytes else {
            throw VaultError(.limitExceeded, reason: "a secret has at most \(limits.secretBytes) bytes")
        }
        guard secret.contentType.utf8.count <= limits.contentTypeBytes else {
            throw VaultError(.limitExceeded, reason: "a content type has at most \(limits.contentTypeBytes) bytes")
        }
    }
}
