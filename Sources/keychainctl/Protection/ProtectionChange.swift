import KeychaindCommandLine
package import KeychaindLanguage
import KeychaindModel
package import SecretServiceClient

/// A change of the access control of stored items.
struct ProtectionChange {
    private let provider: ProviderAccess
    /// Nil to take the protection off.
    private let accessControl: String?

    init(_ provider: ProviderAccess, accessControl: String?) {
        self.provider = provider
        self.accessControl = accessControl
    }

    /// Changes the items of a query, and returns them with whether they had to be changed.
    ///
    /// Asks once for all that are protected already. Throws ``ExitStatus/incomplete`` if only some could be changed.
    func apply(to query: ItemSelection, all: Bool) async throws -> [(item: ListedItem, isChanged: Bool)] {
        guard try await provider.client.enforcesAccessControl() else { throw CommandFailure.notKeychaind }
        let finder = ItemFinder(client: provider.client)
        var found = try await finder.some(query, all: all, .shown)
        try await provider.unlockKeychains(of: found, .shown)
        found = try await finder.read(found.map(\.item)).map { record in
            ListedItem(item: record.item, properties: record.properties, keychain: "")
        }
        let name = ReservedAttribute.accessControl.rawValue
        let different = found.filter { item in item.properties.attributes[name] != accessControl }
        let context = try await provider.authorize(.protect, different, .shown)
        // Other programs may have changed attributes while a person was asked.
        let records = try await finder.read(different.map(\.item))
        let present = Dictionary(records.map { ($0.item.path, $0.properties) }) { first, _ in first }
        for (done, item) in different.enumerated() {
            do {
                try Task.checkCancellation()
                var attributes = try Self.attributes(in: present[item.item.path])
                attributes[name] = accessControl
                try await item.item.setAttributes(attributes)
            } catch {
                let words = Text(
                    done,
                    one: "\(done) of \(different.count) items is changed",
                    other: "\(done) of \(different.count) items are changed"
                )
                throw HalfDone.failure(error, after: done, words, at: item.properties.label)
            }
        }
        withExtendedLifetime(context) {}
        let changed = Set(different.map(\.item.path))
        return found.map { item in (item, changed.contains(item.item.path)) }
    }

    /// - Parameter properties: those of an item that was read; nil if it was deleted meanwhile.
    private static func attributes(
        in properties: SecretItem.Properties?
    ) throws(SecretServiceError) -> [String: String] {
        guard let properties else { throw SecretServiceError(.noSuchObject, "the item was deleted meanwhile") }
        guard !ListedItem.isHidden(properties) else { throw SecretServiceError(.locked, "the item is locked") }
        return properties.attributes
    }
}

/// Which programs have used items, by the audit.
package struct AuditedUses {
    private let records: [AuditRecord]?
    private let withoutUnlock: ProgramsWithoutUnlock
    private static let uses: Set<String> = ["release", "key-use"]
    private static let refusals: Set<String> = ["denial"]
    private static let limit = 5

    /// - Parameter records: the newest first; nil if the audit cannot be read.
    package init(_ records: [AuditRecord]?, _ withoutUnlock: ProgramsWithoutUnlock) {
        self.records = records
        self.withoutUnlock = withoutUnlock
    }

    /// The programs that have used an item, the last first, and those that will need the person's help.
    package func words(for path: String) -> Text {
        guard let records else { return Text("The audit cannot be read.") }
        let reads = records.lazy.filter { record in
            record.item == path && (Self.uses.contains(record.kind) || Self.refusals.contains(record.kind))
        }
        return .joined([used(path, records), withoutUnlock.advice(reads)])
    }

    private func used(_ path: String, _ records: [AuditRecord]) -> Text {
        var programs: [String] = []
        var seen: Set<String> = []
        for record in records where record.item == path && Self.uses.contains(record.kind) {
            let program = Self.program(of: record.caller)
            guard seen.insert(program).inserted else { continue }
            programs.append("\(program.visible) (\(Time.minute(record.time / 1_000_000)))")
        }
        guard !programs.isEmpty else {
            return Text("The audit lists only protected items, so this one is not in it.")
        }
        let names = Text.list(programs.prefix(Self.limit).map(Text.init(verbatim:)))
        let rest = programs.count - Self.limit
        guard rest > 0 else { return Text("Used by \(names).") }
        return Text(rest, one: "Used by \(names) and \(rest) more.", other: "Used by \(names) and \(rest) more.")
    }

    /// The caller without the number of its process.
    private static func program(of caller: String) -> String {
        guard let end = caller.range(of: " (process ") else { return caller }
        return String(caller[..<end.lowerBound])
    }
}

extension String {
    /// The first occurrence of a text, without Foundation.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
