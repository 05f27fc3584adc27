import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct AuditCommand: KeychaindCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show which programs read or changed protected items, or were refused.",
        discussion: "Needs keychaind. The oldest entry comes first."
    )

    @Argument(help: ArgumentHelp("Only items with these attributes.", valueName: "name=value"))
    var attributes: [String] = []

    @Option(help: "Only items with this label.")
    var label: String?

    @Option(help: "Only the item of this place, such as login/7; also one that was deleted.")
    var id: String?

    @Option(help: "Only programs whose name contains this text.")
    var program: String?

    @Option(help: "Not older than this: 30m, 2h or 7d ago, or a time such as 2026-11-23 or “2026-11-23 17:05”.")
    var since: String?

    @Option(help: "Only the newest entries.")
    var limit: UInt32?

    @Flag(help: "Stay, and show new entries, until Ctrl-C.")
    var follow = false

    @OptionGroup var format: JSONArguments

    func validate() throws {
        _ = try ItemSelection.attributes(attributes)
        guard id == nil || attributes.isEmpty && label == nil else {
            throw ValidationError("--id names one item; leave out the other conditions")
        }
        if let since, Time.parse(since) == nil { throw ValidationError("--since: “\(since.visible)” is no time") }
    }

    func run(_ provider: ProviderAccess) async throws {
        let filter = AuditFilter(items: try await paths(provider.client), program: program?.lowercased())
        let since = since.flatMap { Time.parse($0) } ?? 0
        var (seconds, isTooLate) = since.multipliedReportingOverflow(by: 1_000_000)
        if isTooLate { seconds = .max }
        if follow { _ = try await provider.client.followAudit() }
        var shown = try await provider.client.audit(since: seconds, limit: 0).filter(filter.matches)
        if let limit { shown = Array(shown.prefix(Int(limit))) }
        let list = AuditList(to: provider.output, isJSON: format.json, isFollowing: follow)
        for record in shown.reversed() { try list.add(record) }
        guard follow else { return try list.finish() }
        try list.flush()
        try await self.follow(after: shown, filter, list, provider.client)
    }

    /// Shows events as they come, also those of a provider that starts anew.
    private func follow(
        after shown: [AuditRecord],
        _ filter: AuditFilter,
        _ list: AuditList,
        _ client: SecretClient
    ) async throws {
        // Events between the beginning and a reading come twice.
        var seen = Set(shown)
        var last = shown.first?.time ?? UInt64(clamping: time(nil)) * 1_000_000
        while true {
            for record in try await newRecords(client, since: last) {
                last = max(last, record.time)
                if filter.matches(record), !seen.contains(record) { try list.add(record) }
                if record.time == last { seen.insert(record) }
            }
            try list.flush()
        }
    }

    private func newRecords(_ client: SecretClient, since last: UInt64) async throws -> [AuditRecord] {
        do throws(SecretServiceError) {
            return try await client.followAudit()
        } catch {
            guard error.code == .providerGone else { throw error }
        }
        let first = try await client.followAudit()
        do throws(SecretServiceError) {
            return first + (try await client.audit(since: last, limit: 0)).reversed()
        } catch {
            // A provider that starts may wait for a password; it has nothing new then.
            guard error.code == .locked else { throw error }
            return first
        }
    }

    /// The paths of the items that are meant; nil for all entries.
    private func paths(_ client: SecretClient) async throws -> Set<String>? {
        if let id { return [ListedItem.path(of: id)] }
        guard !attributes.isEmpty || label != nil else { return nil }
        let query = ItemSelection(attributes: try ItemSelection.attributes(attributes), label: label)
        let found = try await ItemFinder(client: client).some(query, all: true, .never)
        return Set(found.map(\.item.path))
    }
}

struct AuditFilter {
    let items: Set<String>?
    /// In lower case.
    let program: String?

    func matches(_ record: AuditRecord) -> Bool {
        if let items, !items.contains(record.item) { return false }
        return program.map { record.caller.lowercased().contains($0) } ?? true
    }
}

/// Entries of the audit as lines of text or JSON.
private final class AuditList {
    private let output: Output
    private let table: Table?

    init(to output: Output, isJSON: Bool, isFollowing: Bool) {
        self.output = output
        let titles = [
            Text("TIME"), Text("WHAT"), Text("OUTCOME"), Text("PROGRAM"), Text("ITEM"), Text("ACCESS CONTROL"),
            Text("RULE"),
        ]
        table = isJSON ? nil : Table(titles, to: output, on: isFollowing ? .program : .current)
    }

    func add(_ record: AuditRecord) throws(CommandFailure) {
        guard let table else { return try output.line(record.json) }
        try table.add(record.row)
    }

    func flush() throws(CommandFailure) { try output.flush() }

    func finish() throws(CommandFailure) {
        if let table { try table.finish() }
        try output.flush()
    }
}

extension AuditRecord {
    fileprivate var row: [String] {
        let place = item.split(separator: "/").suffix(2).joined(separator: "/")
        return [
            Time.second(time / 1_000_000), kind.visible, outcome.visible, caller.visible, place.visible, policy.visible,
            rule.shownRule,
        ]
    }

    fileprivate var json: String {
        "{\"time\": \(time), \"kind\": \(JSON.string(kind)), \"outcome\": \(JSON.string(outcome)), "
            + "\"program\": \(JSON.string(caller)), \"evidence\": \(JSON.string(evidence)), "
            + "\"path\": \(JSON.string(item)), \"access-control\": \(JSON.string(policy)), "
            + "\"rule\": \(JSON.string(rule))}"
    }
}
