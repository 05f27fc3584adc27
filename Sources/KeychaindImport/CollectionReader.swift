import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindGcrypt
package import SecretServiceClient

/// Reads the items of a collection, with many calls in flight.
package struct CollectionReader: Sendable {
    let client: SecretClient
    /// The name of the keychain, for the items.
    let keychain: String
    /// Called with the number of items read since the last call.
    let progress: @Sendable (Int) -> Void

    package init(client: SecretClient, keychain: String, progress: @escaping @Sendable (Int) -> Void) {
        self.client = client
        self.keychain = keychain
        self.progress = progress
    }

    /// Items in one request for secrets: few enough for the largest ones to fit into a message together.
    private static let batch = 128
    /// Requests in flight.
    private static let window = 4
    /// The items of one request, of which a provider answers one after the other.
    private static let propertyWindow = 64

    /// The items, in the order of the provider, and those that it did not give away.
    package func read(
        _ items: [SecretItem]
    ) async throws(SecretServiceError) -> (items: [ImportedItem], unread: [SecretItem]) {
        let batches = stride(from: 0, to: items.count, by: CollectionReader.batch).map { start in
            Array(items[start..<min(start + CollectionReader.batch, items.count)])
        }
        var read: [[ImportedItem]] = Array(repeating: [], count: batches.count)
        do {
            try await withThrowingTaskGroup(of: (Int, [ImportedItem]).self) { group in
                var next = 0
                for _ in 0..<CollectionReader.window where next < batches.count {
                    let number = next
                    group.addTask { (number, try await readBatch(batches[number])) }
                    next += 1
                }
                while let (number, items) = try await group.next() {
                    read[number] = items
                    progress(items.count)
                    guard next < batches.count else { continue }
                    let following = next
                    group.addTask { (following, try await readBatch(batches[following])) }
                    next += 1
                }
            }
        } catch let error as SecretServiceError {
            throw error
        } catch {
            throw SecretServiceError(.cancelled, "the task was cancelled")
        }
        let all = read.flatMap(\.self)
        let known = Set(all.compactMap(\.reference))
        return (all, items.filter { !known.contains($0) })
    }

    private func readBatch(_ items: [SecretItem]) async throws -> [ImportedItem] {
        let secrets = try await readSecrets(items)
        let properties = try await readProperties(items)
        return items.compactMap { item in
            guard let secret = secrets[item]?.take(), let properties = properties[item] else { return nil }
            return ImportedItem(makeItem(properties, secret), reference: item)
        }
    }

    private func makeItem(_ properties: SecretItem.Properties, _ secret: consuming Secret) -> ForeignItem {
        let contentType = secret.contentType
        return ForeignItem(
            keychain: keychain,
            label: properties.label,
            attributes: properties.attributes,
            secret: secret.takeBytes(),
            contentType: contentType,
            created: properties.created == 0 ? nil : properties.created,
            modified: properties.modified == 0 ? nil : properties.modified
        )
    }

    /// Properties by item, in one call if the provider is keychaind.
    private func readProperties(_ items: [SecretItem]) async throws -> [SecretItem: SecretItem.Properties] {
        if let records = try await records(items) {
            return Dictionary(records.map { ($0.item, $0.properties) }) { first, _ in first }
        }
        return try await withThrowingTaskGroup(of: (SecretItem, SecretItem.Properties)?.self) { group in
            var found: [SecretItem: SecretItem.Properties] = [:]
            var rest = items[...]
            for item in rest.prefix(CollectionReader.propertyWindow) {
                group.addTask { try await Self.properties(item) }
            }
            rest = rest.dropFirst(CollectionReader.propertyWindow)
            while let result = try await group.next() {
                if let (item, properties) = result { found[item] = properties }
                if let item = rest.popFirst() { group.addTask { try await Self.properties(item) } }
            }
            return found
        }
    }

    private func records(_ items: [SecretItem]) async throws(SecretServiceError) -> [SecretItemRecord]? {
        do throws(SecretServiceError) {
            return try await client.read(items, withSecrets: false)
        } catch  where error.code == .limitExceeded {
            // Attributes that are too large for one answer are read one by one.
            return nil
        }
    }

    /// Nil if the item was deleted meanwhile.
    private static func properties(
        _ item: SecretItem
    ) async throws(SecretServiceError) -> (SecretItem, SecretItem.Properties)? {
        do throws(SecretServiceError) {
            return (item, try await item.properties())
        } catch  where error.code == .noSuchObject {
            return nil
        }
    }

    private func readSecrets(_ items: [SecretItem]) async throws -> [SecretItem: Handoff<Secret>] {
        var secrets: [SecretItem: Handoff<Secret>] = [:]
        do {
            try await client.forEachSecret(of: items) { item, secret in secrets[item] = Handoff(secret) }
            return secrets
        } catch let error as SecretServiceError where CollectionReader.isTooMuch(error) && items.count > 1 {
            let half = items.count / 2
            return try await readSecrets(Array(items[..<half])).merging(try await readSecrets(Array(items[half...]))) {
                first,
                _ in first
            }
        } catch let error as SecretServiceError where error.code == .locked || error.code == .noSuchObject {
            return [:]
        }
    }

    private static func isTooMuch(_ error: SecretServiceError) -> Bool {
        // Some providers refuse the whole request because of one item.
        error.code == .limitExceeded || error.code == .locked || error.code == .noSuchObject
    }
}
