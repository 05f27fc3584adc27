import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct LearnCommand: KeychaindCommand {
    static let configuration = CommandConfiguration(
        commandName: "learn",
        abstract: "Write the rules that the last week would have needed.",
        discussion: """
            Writes a file for you to read, and changes nothing: “keychainctl rules add --file” adds what you leave in \
            it. The audit has uses of protected items, and those that a rule has decided; with the rule 'allow any *' \
            it has all of them. Ends with status 3 if nothing was used.
            """
    )

    @Option(help: "Not older than this: 30m, 2h or 7d ago, or a time such as 2026-11-23 or “2026-11-23 17:05”.")
    var since = "7d"

    @Option(help: "Only programs whose name contains this text.")
    var program: String?

    func validate() throws {
        guard Time.parse(since) != nil else { throw ValidationError("--since: “\(since.visible)” is no time") }
    }

    func run(_ provider: ProviderAccess) async throws {
        let start = Time.parse(since) ?? 0
        let (time, isTooLate) = start.multipliedReportingOverflow(by: 1_000_000)
        let records = try await provider.client.audit(since: isTooLate ? .max : time, limit: 0)
        let filter = AuditFilter(items: nil, program: program?.lowercased())
        let meant = records.filter(filter.matches)
        let rules = LearnedRules(meant, try await items(LearnedRules.paths(in: meant), provider.client))
        for line in rules.lines(since: Time.minute(start)) { try provider.output.line(line) }
        try provider.output.flush()
        guard !rules.isEmpty else {
            throw CommandFailure(
                .notFound,
                """
                the audit lists no use of an item since then; it lists only protected items, and items about which \
                a rule decided: the rule “allow any *” makes it list all
                """
            )
        }
    }

    private func items(_ paths: [String], _ client: SecretClient) async throws -> [String: LearnedRules.Item] {
        let records = try await ItemFinder(client: client).read(paths.compactMap { try? client.item(at: $0) })
        let items = records.map { record in
            let item = LearnedRules.Item(label: record.properties.label, attributes: record.properties.attributes)
            return (record.item.path, item)
        }
        return Dictionary(items) { first, _ in first }
    }
}
