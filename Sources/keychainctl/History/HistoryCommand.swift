import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct HistoryCommand: CopiesCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Find past states of an item, and put one back.",
        discussion: """
            Needs keychaind. Without options lists the past states of the item's keychain. keychaind asks for the \
            password that the keychain had at that time, once for each state. A deleted item is named by --label.
            """
    )

    @OptionGroup var items: ItemArguments

    @Option(help: "Say how the item differs in this past state; may be repeated.")
    var compare: [String] = []

    @Option(help: "Put the item back as it was in this past state.")
    var restore: String?

    @OptionGroup var format: JSONArguments

    func validate() throws {
        guard restore == nil || compare.isEmpty else { throw ValidationError("choose --compare or --restore") }
        guard restore == nil || !format.json else { throw ValidationError("--restore has no --json") }
    }

    func run(_ provider: ProviderAccess) async throws {
        let copies = try await provider.client.keychainCopies()
        let subject = try await subject(provider)
        let own = copies.filter { copy in subject.keychain == nil || copy.keychain == subject.keychain }
        if let restore {
            let state = try Self.find(restore, in: own)
            try await Self.checkLabel(of: subject, provider.client)
            try await putBack(subject, from: state, provider)
        } else if compare.isEmpty {
            try list(own, provider.output)
        } else {
            // Each asks for a password: none is asked in vain, and none is lost with a later one.
            for state in try compare.map({ id in try Self.find(id, in: own) }) {
                try await compare(subject, with: state, provider)
                try provider.output.flush()
            }
        }
    }

    /// The item that is meant.
    fileprivate struct Subject {
        let label: String
        /// Nil if the item no longer exists.
        let item: SecretItem?
        /// The label of its keychain; nil if that is not known.
        let keychain: String?

        /// The number of the item in its keychain.
        var number: UInt64? { item?.path.split(separator: "/").last.flatMap { UInt64($0) } }
    }

    private func subject(_ provider: ProviderAccess) async throws -> Subject {
        let query = try items.query
        let finder = ItemFinder(client: provider.client)
        do {
            var found = try await finder.one(query, .shown)
            if restore != nil, found.isHidden {
                // The label names the item to keychaind.
                try await provider.unlockKeychains(of: [found], .shown)
                found = try await finder.one(query, .shown)
            }
            let labels = try await finder.keychainLabels()
            return Subject(label: found.properties.label, item: found.item, keychain: labels[found.collectionPath])
        } catch let failure as CommandFailure {
            guard failure.status == .notFound, query.attributes.isEmpty, let label = query.label else { throw failure }
            return Subject(label: label, item: nil, keychain: query.keychain)
        }
    }

    /// Throws ``ExitStatus/refused`` if other items have the label too: they would be put back with the item.
    private static func checkLabel(of subject: Subject, _ client: SecretClient) async throws {
        guard let item = subject.item else { return }
        let query = ItemSelection(label: subject.label, keychain: ListedItem.collectionPath(of: item))
        guard try await ItemFinder(client: client).some(query, all: true, .never).count > 1 else { return }
        throw CommandFailure(
            .refused,
            """
            other items of its keychain are called “\(subject.label.visible)” too, and come back only together: \
            “keychainctl restore … --item …”
            """
        )
    }

    private static func find(_ id: String, in copies: [KeychainCopy]) throws(CommandFailure) -> KeychainCopy {
        guard let copy = copies.first(where: { $0.id == id }) else {
            throw CommandFailure(.notFound, "the item's keychain has no past state “\(id.visible)”")
        }
        return copy
    }

    private func list(_ copies: [KeychainCopy], _ output: Output) throws(CommandFailure) {
        if format.json {
            let objects = copies.map { copy in
                "{\"copy\": \(JSON.string(copy.id)), \"keychain\": \(JSON.string(copy.keychain)), "
                    + "\"modified\": \(copy.modified), \"items\": \(copy.itemCount)}"
            }
            return try output.line(JSON.array(objects))
        }
        let table = Table([Text("STATE OF"), Text("ITEMS"), Text("KEYCHAIN"), Text("NAME")], to: output)
        for copy in copies {
            let row = [Time.minute(copy.modified), "\(copy.itemCount)", copy.keychain.visible, copy.id.visible]
            try table.add(row)
        }
        try table.finish()
    }

    private func compare(_ subject: Subject, with copy: KeychainCopy, _ provider: ProviderAccess) async throws {
        let differences = try await provider.client.differences(from: copy.id)
        let kind = differences.first { subject.matches($0) }?.kind
        if format.json {
            let text = kind.map { JSON.string("\($0)") } ?? "\"same\""
            return try provider.output.line("{\"copy\": \(JSON.string(copy.id)), \"difference\": \(text)}")
        }
        let (time, label) = (Time.minute(copy.modified), subject.label.visible)
        let line =
            switch kind {
            case .changed: Text("\(time)  “\(label)” was different then")
            case .removed: Text("\(time)  “\(label)” existed then")
            case nil where subject.number != nil: Text("\(time)  “\(label)” was the same then")
            case .added, nil: Text("\(time)  “\(label)” did not exist then")
            }
        try provider.output.line(line)
    }

    private func putBack(_ subject: Subject, from copy: KeychainCopy, _ provider: ProviderAccess) async throws {
        let (restored, refused) = try await provider.client.restore(items: [subject.label], from: copy.id)
        guard refused.isEmpty else {
            throw CommandFailure(
                .refused,
                """
                “\(subject.label.visible)” is or was protected, and comes back only with its whole keychain: \
                “keychainctl restore”
                """
            )
        }
        let time = Time.minute(copy.modified)
        try provider.output.line(
            restored == 1
                ? Text("“\(subject.label.visible)” is as in the state of \(time).")
                : Text(
                    restored,
                    one: "\(restored) item of this name is as in the state of \(time).",
                    other: "\(restored) items of this name are as in the state of \(time)."
                )
        )
    }
}

extension HistoryCommand.Subject {
    /// A present item is the one with its number, a deleted one the one with its label.
    fileprivate func matches(_ difference: KeychainDifference) -> Bool {
        guard let number else { return difference.kind == .removed && difference.label == label }
        return difference.item == number
    }
}
