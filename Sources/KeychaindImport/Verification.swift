import KeychaindForeignFiles
import KeychaindGcrypt
import SecretServiceClient

/// Compares written items with their originals, as keychaind returns them.
struct Verification: Sendable {
    /// The beginning of the import, in seconds since 1970: later times became that of the write.
    let start: UInt64
    let progress: @Sendable (Int) -> Void

    /// The items that keychaind does not return as they were.
    func mismatches(_ written: [(item: ImportedItem, reference: SecretItem)], _ client: SecretClient) async throws
        -> [ImportedItem]
    {
        let reader = CollectionReader(client: client, keychain: "", progress: progress)
        let read = try await reader.read(written.map(\.reference)).items
        let found = Dictionary(read.map { ($0.reference, $0) }) { first, _ in first }
        return written.compactMap { item, reference in
            guard let copy = found[reference] else { return item }
            return isEqual(item.item, copy.item) ? nil : item
        }
    }

    private func isEqual(_ item: borrowing ForeignItem, _ copy: borrowing ForeignItem) -> Bool {
        item.secret.isEqual(to: copy.secret) && item.contentType == copy.contentType && item.label == copy.label
            && item.attributes.withoutGenericSchema == copy.attributes.withoutGenericSchema
            && isEqual(item.created, copy.created) && isEqual(item.modified, copy.modified)
    }

    private func isEqual(_ time: UInt64?, _ copy: UInt64?) -> Bool {
        guard let time else { return true }
        guard let copy else { return false }
        return time == copy || time > start && copy >= start
    }
}
