import KeychaindArchive
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindModel
import SecretServiceClient

/// The keychains and items of a provider, unlocked for an export.
struct Export {
    struct Keychain {
        let keychain: ArchivedKeychain
        var items: [SecretItemRecord]
    }

    private let client: SecretClient
    /// Its unique bus name.
    private let provider: String
    private var keychains: [Keychain] = []
    private var leftBehind: [LeftBehindItem] = []

    private init(of client: SecretClient, _ provider: String, _ keychains: [Keychain]) {
        self.client = client
        self.provider = provider
        self.keychains = keychains
    }

    /// Unlocks the keychains, and then all protected items together, so that a person is asked as rarely as possible.
    static func prepare(of client: SecretClient, withProtected: Bool) async throws -> Export {
        let provider = try await client.providerName()
        let collections = try await unlockedCollections(client)
        var keychains: [Keychain] = []
        for collection in collections { keychains.append(try await keychain(collection)) }
        await client.tellOfHidingRules()
        var export = Export(of: client, provider, keychains)
        export.leaveBehind(.thisDeviceOnly) { protection in protection.isThisDeviceOnly }
        if withProtected {
            try await export.unlockProtected()
        } else {
            export.leaveBehind(.protected) { protection in protection.isProtected }
        }
        return export
    }

    private static func unlockedCollections(_ client: SecretClient) async throws -> [SecretCollection] {
        let session = try await client.collection(alias: "session")?.path
        let collections = try await client.collections().filter { collection in collection.path != session }
        let unlocked = try await client.unlock(collections)
        guard unlocked.count == collections.count else {
            throw CommandFailure(.locked, "a keychain stayed locked, so nothing was exported")
        }
        return collections
    }

    private static func keychain(_ collection: SecretCollection) async throws -> Keychain {
        let properties = try await collection.properties()
        let keychain = ArchivedKeychain(
            label: properties.label,
            created: properties.created,
            modified: properties.modified
        )
        // In several calls, if the attributes are too large for one.
        let finder = ItemFinder(client: collection.client)
        return Keychain(keychain: keychain, items: try await finder.read(try await collection.items()))
    }

    private mutating func leaveBehind(_ reason: LeftBehindItem.Reason, if matches: (ExportProtection) -> Bool) {
        for index in keychains.indices {
            let keychain = keychains[index]
            keychains[index].items = []
            for record in keychain.items {
                let properties = record.properties
                if matches(ExportProtection(properties.attributes)) {
                    let label = keychain.keychain.label
                    leftBehind.append(LeftBehindItem(keychain: label, label: properties.label, reason: reason))
                } else {
                    keychains[index].items.append(record)
                }
            }
        }
    }

    private func unlockProtected() async throws {
        let items = keychains.flatMap(\.items).filter { record in
            record.properties.isLocked || ExportProtection(record.properties.attributes).isProtected
        }
        guard !items.isEmpty else { return }
        Terminal.tell(
            Text(
                items.count,
                one: "\(items.count) protected item asks for your permission; --without-protected leaves it out.",
                other: "\(items.count) protected items ask for your permission; --without-protected leaves them out."
            )
        )
        _ = try await client.unlock(items.map(\.item))
    }

    /// Writes all items.
    func write(to writer: any ExportWriter) async throws -> ExportCounts {
        var counts = ExportCounts(leftBehind: leftBehind)
        let total = keychains.reduce(0) { count, keychain in count + keychain.items.count }
        for keychain in keychains {
            try writer.begin(keychain.keychain)
            counts.keychains += 1
            let records = Dictionary(keychain.items.map { ($0.item.path, $0) }) { first, _ in first }
            let written = try await client.readSecrets(of: keychain.items.map(\.item)) { item, secret in
                guard let record = records[item.path] else { return }
                try writer.append(record, secret)
                counts.written += 1
                Terminal.progress(Text("\(counts.written) of \(total) items"))
            } unreadable: { _ in
                // Left behind, and named so below.
            }
            for record in keychain.items where !written.contains(record.item.path) {
                let properties = record.properties
                let item = LeftBehindItem(
                    keychain: keychain.keychain.label,
                    label: properties.label,
                    reason: LeftBehindItem.Reason(unreadable: properties.attributes)
                )
                counts.leftBehind.append(item)
            }
        }
        try await checkProvider()
        try writer.finish()
        return counts
    }

    /// Throws if the provider has ended: the bus may have started another, which lacks the items.
    private func checkProvider() async throws(CommandFailure) {
        let present: String
        do throws(SecretServiceError) {
            present = try await client.providerName()
        } catch {
            throw CommandFailure(error)
        }
        guard present == provider else {
            throw CommandFailure(.noProvider, "the provider ended during the export, so nothing was written")
        }
    }
}

/// The reserved attributes of an item that decide about an export.
struct ExportProtection {
    private let attributes: [String: String]

    init(_ attributes: [String: String]) {
        self.attributes = attributes
    }

    /// True also for values of later versions.
    var isThisDeviceOnly: Bool {
        attributes[ReservedAttribute.accessible.rawValue]?.hasSuffix("ThisDeviceOnly") == true
    }

    var isProtected: Bool {
        guard let text = attributes[ReservedAttribute.accessControl.rawValue] else { return false }
        guard let control = try? AccessControl(parsing: text) else { return true }
        return control.policy != nil
    }
}

/// An item that is not in an export.
struct LeftBehindItem {
    enum Reason {
        case thisDeviceOnly
        case protected
        case keyStays
        case portalSecret
        case unreadable

        var text: Text {
            switch self {
            case .thisDeviceOnly: Text("it may not leave this computer")
            case .protected: Text("it is protected")
            case .keyStays: Text("a key that is used without leaving the keychain")
            case .portalSecret: Text("a secret for the desktop portal only")
            case .unreadable: Text("its secret could not be read")
            }
        }

        /// The reason why keychaind gave no secret of an item with these attributes.
        init(unreadable attributes: [String: String]) {
            if attributes["keychain:class"] == "key" {
                self = .keyStays
            } else if attributes[Attributes.portalApplication] != nil {
                self = .portalSecret
            } else {
                self = .unreadable
            }
        }
    }

    let keychain: String
    let label: String
    let reason: Reason

    var isExpected: Bool { reason != .unreadable }

    var line: Text { Text("“\(label.visible)” in “\(keychain.visible)”: \(reason.text)") }
}

struct ExportCounts {
    var keychains = 0
    var written = 0
    var leftBehind: [LeftBehindItem]

    init(leftBehind: [LeftBehindItem]) {
        self.leftBehind = leftBehind
    }

    var summary: Text {
        let items = Text(written, one: "\(written) item", other: "\(written) items")
        let keychains = Text(keychains, one: "\(keychains) keychain", other: "\(keychains) keychains")
        // Translators: numbers, such as "4 items of 2 keychains"
        guard !leftBehind.isEmpty else { return Text("\(items) of \(keychains)") }
        // Translators: numbers, such as "4 items of 2 keychains, 1 left behind"
        return Text("\(items) of \(keychains), \(leftBehind.count) left behind")
    }
}
