import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindImport
import KeychaindLanguage
import SecretServiceClient

/// A keychain of an archive beside that of the provider.
struct ArchiveComparison {
    let keychain: String
    /// Nil if the provider has no such keychain.
    let collection: SecretCollection?
    /// Of the items that could be compared.
    private(set) var comparison: ItemComparison
    /// Items of the archive that are there, but protected, so whether they are the same is unknown.
    private(set) var uncompared: [ImportedItem] = []

    /// Unlocks the keychain and reads its items; protected ones stay closed.
    init(
        _ keychain: String,
        _ items: [ImportedItem],
        with collection: SecretCollection?,
        of client: SecretClient
    ) async throws {
        self.keychain = keychain
        self.collection = collection
        guard let collection else {
            comparison = ItemComparison(items, with: [])
            return
        }
        if try await collection.isLocked() { try await collection.unlock() }
        let reader = CollectionReader(client: client, keychain: keychain) { _ in }
        let (present, closed) = try await reader.read(try await collection.items())
        let names = try await Self.publicAttributes(of: closed)
        var comparable: [ImportedItem] = []
        let readable = Set(present.map { $0.item.attributes })
        for item in items {
            let isClosed = names.contains(Self.publicAttributes(item.item.attributes))
            if isClosed, !readable.contains(item.item.attributes) {
                uncompared.append(item)
            } else {
                comparable.append(item)
            }
        }
        comparison = ItemComparison(comparable, with: present)
    }

    /// The items that are in the provider only, without those that no archive takes.
    var added: [ImportedItem] {
        comparison.others.filter { !ExportProtection($0.item.attributes).isThisDeviceOnly }
    }

    private static func publicAttributes(of items: [SecretItem]) async throws -> Set<[String: String]> {
        var all: Set<[String: String]> = []
        for item in items {
            do throws(SecretServiceError) {
                all.insert(publicAttributes(try await item.properties().attributes))
            } catch {
                // Deleted meanwhile.
                guard error.code == .noSuchObject else { throw error }
            }
        }
        return all
    }

    /// Attributes without an access control, which an item may have got since.
    private static func publicAttributes(_ attributes: [String: String]) -> [String: String] {
        attributes.filter { name, _ in name != "keychain:access-control" }
    }
}

extension ImportedItem {
    /// The item as people read it.
    var name: Text { Text("“\(item.label.visible)” in “\(item.keychain.visible)”") }
}
