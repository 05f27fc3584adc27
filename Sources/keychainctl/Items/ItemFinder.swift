import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// Finds the items of a query at any provider.
struct ItemFinder: Sendable {
    let client: SecretClient

    /// Items that are read at a time.
    private static let batch = 1000
    /// Calls at a time, for providers that give one item in a call.
    private static let parallelCalls = 64
    /// Candidates that an ambiguous query lists.
    private static let candidateLimit = 20

    // MARK: One

    /// The one item of a query.
    ///
    /// Throws ``ExitStatus/notFound`` or ``ExitStatus/ambiguous``. Unlocks keychains that hide the labels of their
    /// items if the query has a label.
    func one(_ query: ItemSelection, _ prompting: SecretPrompting) async throws -> ListedItem {
        let found = try await all(query, prompting, limit: Self.candidateLimit + 1)
        guard let item = found.first else { throw CommandFailure(.notFound, "no item has \(query.words)") }
        guard found.count == 1 else { throw await ambiguous(query, found) }
        return item
    }

    /// The items of a query: one, unless more are wanted.
    ///
    /// For all items with a label, unlocks each keychain that hides labels.
    func some(_ query: ItemSelection, all: Bool, _ prompting: SecretPrompting) async throws -> [ListedItem] {
        guard all else { return [try await one(query, prompting)] }
        let found = try await self.all(query, prompting, limit: nil)
        guard !found.isEmpty else { throw CommandFailure(.notFound, "no item has \(query.words)") }
        return found
    }

    private func ambiguous(_ query: ItemSelection, _ found: [ListedItem]) async -> CommandFailure {
        let labels = try? await keychainLabels()
        // Translators: what was searched for, such as "service=web the label “Bank”"
        var lines = [
            found.count > Self.candidateLimit
                ? Text("many items have \(query.words):")
                : Text(
                    found.count,
                    one: "\(found.count) item has \(query.words):",
                    other: "\(found.count) items have \(query.words):"
                )
        ]
        for item in found.prefix(Self.candidateLimit) {
            let keychain = labels?[item.collectionPath] ?? item.keychain
            var row = item.row
            row[2] = keychain.visible
            lines.append(Text("  --id \(row[0])  “\(row[1])” in “\(row[2])”  \(row[4])"))
        }
        if found.count > Self.candidateLimit { lines.append(Text(verbatim: "  …")) }
        lines.append(Text("name one with --id, or with more attributes"))
        return CommandFailure(.ambiguous, .lines(lines))
    }

    private func all(_ query: ItemSelection, _ prompting: SecretPrompting, limit: Int?) async throws -> [ListedItem] {
        var (found, hidden) = try await collect(query, limit: limit)
        // For one item, no dialog asks about further keychains; all items are not known without their labels.
        if query.label != nil, !hidden.isEmpty, found.isEmpty || limit == nil {
            let paths = Set(hidden.map(ListedItem.collectionPath(of:))).sorted()
            let collections = try paths.map { path in try client.collection(at: path) }
            guard try await client.unlock(collections, prompting: prompting).count == collections.count else {
                throw CommandFailure(.locked, "a keychain stayed locked, so its labels cannot be compared")
            }
            (found, hidden) = try await collect(query, limit: limit)
        }
        return found
    }

    private func collect(_ query: ItemSelection, limit: Int?) async throws -> (
        found: [ListedItem], hidden: [SecretItem]
    ) {
        var found: [ListedItem] = []
        var hidden: [SecretItem] = []
        if query.isByAttributes, let records = try await records(query, limit: limit) {
            return (records.map { ListedItem(item: $0.item, properties: $0.properties, keychain: "") }, [])
        }
        try await forEachBatch(of: query) { batch, hiddenItems in
            found += batch
            hidden += hiddenItems.map(\.item)
            return limit.map { found.count < $0 } ?? true
        }
        return (found, hidden)
    }

    /// The items of a query by attributes alone, in one call; nil if the provider cannot, or they are too many.
    private func records(_ query: ItemSelection, limit: Int?) async throws -> [SecretItemRecord]? {
        do throws(SecretServiceError) {
            return try await client.searchAndRead([query.attributes], limit: limit, withSecrets: false)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            return nil
        }
    }

    // MARK: Many

    /// Calls a closure with the items in portions, and with those whose label is hidden from a query that has one.
    ///
    /// - Parameter body: returns false to end.
    func forEachBatch(
        of query: ItemSelection,
        _ body: ([ListedItem], _ hidden: [ListedItem]) async throws -> Bool
    ) async throws {
        let labels = try await keychainLabels()
        let items = try await items(of: query, labels)
        var portion = try await read(Array(items.prefix(Self.batch)))
        for start in stride(from: 0, to: items.count, by: Self.batch) {
            try Task.checkCancellation()
            // The provider answers the next call while these are shown.
            async let following = read(Array(items.dropFirst(start + Self.batch).prefix(Self.batch)))
            var found: [ListedItem] = []
            var hidden: [ListedItem] = []
            for record in portion {
                let keychain = labels[ListedItem.collectionPath(of: record.item)] ?? ""
                let item = ListedItem(item: record.item, properties: record.properties, keychain: keychain)
                if query.label == nil || !item.isHidden && item.properties.label == query.label {
                    found.append(item)
                } else if item.isHidden {
                    hidden.append(item)
                }
            }
            guard try await body(found, hidden) else { return }
            portion = try await following
        }
    }

    /// The labels of the keychains, by path.
    func keychainLabels() async throws -> [String: String] {
        var labels: [String: String] = [:]
        for collection in try await client.collections() {
            labels[collection.path] = try await Self.label(of: collection)
        }
        return labels
    }

    /// Nil if the keychain was deleted meanwhile.
    private static func label(of collection: SecretCollection) async throws(SecretServiceError) -> String? {
        do throws(SecretServiceError) {
            return try await collection.label()
        } catch {
            guard error.code == .noSuchObject else { throw error }
            return nil
        }
    }

    private func items(of query: ItemSelection, _ labels: [String: String]) async throws -> [SecretItem] {
        if let id = query.id {
            guard let item = try? item(id) else {
                throw CommandFailure(.notFound, "“\(id.visible)” names no item")
            }
            return [item]
        }
        if query.keychain == nil, !query.attributes.isEmpty { return try await client.search(query.attributes).all }
        let paths = try Keychains.paths(labeled: query.keychain, in: labels)
        var items: [SecretItem] = []
        for path in paths {
            let collection = try client.collection(at: path)
            if query.attributes.isEmpty {
                items += try await collection.items()
            } else {
                items += try await collection.search(query.attributes)
            }
        }
        return items
    }

    private func item(_ id: String) throws -> SecretItem {
        try client.item(at: ListedItem.path(of: id))
    }

    /// Reads items again, without those that were deleted meanwhile.
    func readAgain(_ items: [ListedItem]) async throws -> [ListedItem] {
        let keychains = Dictionary(items.map { ($0.item.path, $0.keychain) }) { first, _ in first }
        return try await read(items.map(\.item)).map { record in
            let keychain = keychains[record.item.path] ?? ""
            return ListedItem(item: record.item, properties: record.properties, keychain: keychain)
        }
    }

    /// Reads the properties of items in their order, without those that were deleted meanwhile.
    func read(_ items: [SecretItem]) async throws -> [SecretItemRecord] {
        guard !items.isEmpty else { return [] }
        switch try await readTogether(items) {
        case .records(let records):
            if records.elementsEqual(items, by: { $0.item.path == $1.path }) { return records }
            let byPath = Dictionary(records.map { ($0.item.path, $0) }) { first, _ in first }
            return items.compactMap { item in byPath[item.path] }
        case .tooMany where items.count > 1:
            let half = items.count / 2
            return try await read(Array(items[..<half])) + read(Array(items[half...]))
        case .tooMany, .unsupported:
            return try await readEach(items)
        }
    }

    private enum Reading {
        case records([SecretItemRecord])
        case tooMany
        case unsupported
    }

    private func readTogether(_ items: [SecretItem]) async throws(SecretServiceError) -> Reading {
        do throws(SecretServiceError) {
            guard let records = try await client.read(items, withSecrets: false) else { return .unsupported }
            return .records(records)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            return .tooMany
        }
    }

    private func readEach(_ items: [SecretItem]) async throws -> [SecretItemRecord] {
        var records: [SecretItemRecord?] = Array(repeating: nil, count: items.count)
        try await withThrowingTaskGroup(of: (Int, SecretItemRecord?).self) { group in
            var started = 0
            while started < items.count || !group.isEmpty {
                while started < items.count, started < Self.parallelCalls {
                    group.addTask { [started] in (started, try await Self.record(of: items[started])) }
                    started += 1
                }
                guard let (index, record) = try await group.next() else { break }
                records[index] = record
                if started < items.count {
                    group.addTask { [started] in (started, try await Self.record(of: items[started])) }
                    started += 1
                }
            }
        }
        return records.compactMap { $0 }
    }

    /// Nil if the item was deleted meanwhile.
    private static func record(of item: SecretItem) async throws -> SecretItemRecord? {
        do throws(SecretServiceError) {
            return SecretItemRecord(item, try await item.properties())
        } catch {
            guard error.code == .noSuchObject else { throw error }
            return nil
        }
    }
}

extension ItemSelection {
    fileprivate var isByAttributes: Bool {
        !attributes.isEmpty && label == nil && keychain == nil && id == nil
    }
}
