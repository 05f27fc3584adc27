import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindImport
import KeychaindLanguage
import SecretServiceClient

/// Puts items of an archive into a provider, and shows how they differ.
struct ArchiveRestoration {
    private let client: SecretClient
    private let keychains: [ArchiveComparison]

    /// Unlocks the keychains of the archive, and compares.
    ///
    /// Throws ``ExitStatus/notFound`` if the archive lacks a label, and ``ExitStatus/ambiguous`` if the provider has
    /// several keychains of a name.
    ///
    /// - Parameter names: the labels of the items; none for all items.
    init(
        _ archive: [(keychain: String, items: [ImportedItem])],
        named names: [String],
        with client: SecretClient
    ) async throws {
        self.client = client
        let labels = Set(archive.flatMap { keychain in keychain.items.map { $0.item.label } })
        if let missing = names.first(where: { name in !labels.contains(name) }) {
            let name = missing.visible
            throw CommandFailure(.notFound, "the archive has no item “\(name)”, so nothing was put back")
        }
        var collections: [String: [SecretCollection]] = [:]
        for collection in try await client.collections() {
            let label = try await collection.label()
            collections[label, default: []].append(collection)
        }
        var keychains: [ArchiveComparison] = []
        for (name, all) in archive {
            try Task.checkCancellation()
            let items = names.isEmpty ? all : all.filter { names.contains($0.item.label) }
            guard !items.isEmpty else { continue }
            let called = collections[name] ?? []
            guard called.count < 2 else { throw Keychains.ambiguous(name, called.map(\.path)) }
            keychains.append(try await ArchiveComparison(name, items, with: called.first, of: client))
        }
        self.keychains = keychains
    }

    /// Prints what is different now.
    func showDifferences() {
        var lines: [Text] = []
        for keychain in keychains { lines += keychain.added.map { Text("added since  \($0.name)") } }
        for keychain in keychains {
            lines += keychain.comparison.differing.map { Text("changed since  \($0.item.name)") }
            lines += keychain.uncompared.map { Text("not compared  \($0.name)  (protected)") }
        }
        for keychain in keychains { lines += keychain.comparison.new.map { Text("removed since  \($0.name)") } }
        if lines.isEmpty { lines = [Text("The keychains are as the archive.")] }
        for line in lines { Terminal.say(line) }
    }

    /// Adds the items that the provider lacks; changes none that is there.
    func addMissing() async throws {
        let written = try await write { _ in [] }
        let same = keychains.reduce(0) { $0 + $1.comparison.same.count }
        Terminal.say(
            Text(
                written.count,
                one: "\(written.count) item restored, \(same) were there.",
                other: "\(written.count) items restored, \(same) were there."
            )
        )
        let differing = keychains.flatMap { $0.comparison.differing.map(\.item) }
        let uncompared = keychains.flatMap(\.uncompared)
        for item in differing { Terminal.tell("left as it is, since it differs: \(item.name)") }
        for item in uncompared { Terminal.tell("not compared, since it is protected: \(item.name)") }
        try check(written)
        guard differing.isEmpty else {
            throw CommandFailure(.incomplete, "some items differ from the archive; they are named above")
        }
        guard uncompared.isEmpty else {
            throw CommandFailure(.incomplete, "a protected item comes back only with its whole keychain")
        }
    }

    /// Puts the items back that the archive was narrowed to, after a backup of what they replace.
    func putBack() async throws {
        let replaced = keychains.contains { !$0.comparison.differing.isEmpty }
        let closed = keychains.flatMap(\.uncompared)
        guard replaced || !closed.isEmpty || keychains.contains(where: { !$0.comparison.new.isEmpty }) else {
            throw CommandFailure(.notFound, "no item of this name has changed or is gone since then")
        }
        if replaced { try await backUp() }
        let written = try await write { $0.comparison.differing }
        Terminal.say(CopyList.restored(written.count))
        for item in closed { Terminal.tell("not put back, since it is protected: \(item.name)") }
        try check(written)
        guard closed.isEmpty else {
            throw CommandFailure(.incomplete, "a protected item comes back only with its whole keychain")
        }
    }

    private func backUp() async throws {
        do throws(SecretServiceError) {
            _ = try await client.backUpKeychains()
        } catch {
            guard [.notSupported, .noSuchObject].contains(error.code) else { throw error }
            throw CommandFailure(
                .refused,
                "the provider keeps no copy of what would be replaced; only keychaind does. Nothing was changed"
            )
        }
    }

    // MARK: Writing

    private struct Written {
        var count = 0
        var refused: [(item: ImportedItem, reason: String)] = []
    }

    /// - Parameter replacing: the items of a keychain that take the place of others.
    private func write(_ replacing: (ArchiveComparison) -> [DifferingItem]) async throws -> Written {
        var work: [(SecretCollection, [ItemWriter.Task])] = []
        // All keychains are made first, so that a dismissed dialog leaves everything as it is.
        for keychain in keychains {
            let tasks =
                keychain.comparison.new.map { ItemWriter.Task(item: $0) }
                + replacing(keychain).map { ItemWriter.Task(item: $0.item, replaced: $0) }
            guard !tasks.isEmpty else { continue }
            if let collection = keychain.collection {
                work.append((collection, tasks))
            } else {
                work.append((try await client.createCollection(label: keychain.keychain), tasks))
            }
        }
        var written = Written()
        let keepsTimes = try await client.enforcesAccessControl()
        let total = work.reduce(0) { $0 + $1.1.count }
        defer { Terminal.progress(.empty) }
        for (collection, tasks) in work {
            let counter = Counter { Terminal.progress(Text("\($0) of \(total) items")) }
            let writer = ItemWriter(collection: collection, prompting: .shown, keepsTimes: keepsTimes) {
                counter.add($0)
            }
            let outcome = await writer.write(tasks)
            written.count += outcome.written.count
            written.refused += outcome.refused
            if let failure = outcome.failure { throw Self.failure(failure, after: written, of: total) }
            try Task.checkCancellation()
        }
        return written
    }

    /// The failure that ended the writing, with the number of items that the provider has acknowledged.
    private static func failure(
        _ error: SecretServiceError,
        after written: Written,
        of total: Int
    ) -> CommandFailure {
        Terminal.progress(.empty)
        tellRefused(written)
        let failure = CopyList.failure(error)
        guard written.count > 0 else { return failure }
        return CommandFailure(
            .incomplete,
            Text(
                written.count,
                one: "\(written.count) of \(total) items is restored; then it ended: \(failure.text)",
                other: "\(written.count) of \(total) items are restored; then it ended: \(failure.text)"
            )
        )
    }

    private static func tellRefused(_ written: Written) {
        for (item, reason) in written.refused { Terminal.tell("not restored: \(item.name): \(reason.visible)") }
    }

    private func check(_ written: Written) throws(CommandFailure) {
        Self.tellRefused(written)
        guard written.refused.isEmpty else {
            throw CommandFailure(.incomplete, "the provider refused some items; they are named above")
        }
    }
}
