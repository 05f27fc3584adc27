import KeychaindCommandLine
package import KeychaindLanguage

/// Where items come from: the one place that knows the kinds of sources.
package enum ImportSource: Sendable {
    case provider(ForeignProvider)
    /// Paths of KeePassXC's databases; those that it had open last if there are none.
    case keePassXC([String])
    /// Paths of files, of any of the formats of ``ForeignFile``.
    case files([String])

    /// The name in reports.
    package var name: String {
        switch self {
        case .provider(let provider): provider.rawValue
        case .keePassXC: KeePassXC.name
        case .files: "files"
        }
    }

    /// Reads all items; nothing is changed before they are all there.
    package func read(
        _ passwords: ImportPasswords,
        _ messages: any ImportMessages
    ) async throws -> SourceContents {
        switch self {
        case .provider(let provider): try await read(provider, passwords, messages)
        case .keePassXC(let paths):
            try await readDatabases(paths.isEmpty ? KeePassXC.known : paths, passwords, messages)
        case .files(let paths):
            try await FileReader(paths: paths, passwords: passwords, messages: messages).read()
        }
    }
}

extension ImportSource {
    private func read(
        _ provider: ForeignProvider,
        _ passwords: ImportPasswords,
        _ messages: any ImportMessages
    ) async throws -> SourceContents {
        let (files, others) = (provider.files ?? [], provider.filesOfOthers)
        // Where its program is gone, its files are still there.
        guard provider.program == nil && !files.isEmpty || files.isEmpty && !others.isEmpty else {
            return try await ProviderReader(source: .provider(provider), passwords: passwords, messages: messages)
                .read()
        }
        return try await FileReader(
            paths: files + others,
            standard: provider.defaultWallet,
            passwords: passwords,
            messages: messages
        ).read()
    }

    private func readDatabases(
        _ paths: [String],
        _ passwords: ImportPasswords,
        _ messages: any ImportMessages
    ) async throws -> SourceContents {
        guard !paths.isEmpty else {
            throw CommandFailure(.notFound, "KeePassXC had no database open; name the file of one")
        }
        var contents = SourceContents()
        for path in paths {
            let source = ProviderReader.Source.keePassXC(KeePassXC(database: path))
            let reader = ProviderReader(source: source, passwords: passwords, messages: messages)
            contents.keychains += try await reader.read().keychains
        }
        return contents
    }
}

/// All that a source has.
package struct SourceContents: Sendable {
    package var keychains: [SourceKeychain] = []
    /// Names of keychains that stay behind, with the reason.
    package var skipped: [(name: String, reason: Text)] = []

    package init() {}

    /// The number of items that could be read.
    var itemCount: Int { keychains.reduce(0) { $0 + $1.items.count } }

    /// The secrets for keychaind's portal.
    package var portalSecrets: [PortalSecret] { keychains.flatMap(\.portalSecrets) }
}

/// What a person sees of an import; called from any thread.
package protocol ImportMessages: Sendable {
    /// A step of which `count` of `total` items are done.
    func progress(_ step: Text, _ count: Int, of total: Int)

    /// The end of a step.
    func finishProgress()

    /// A sentence.
    func tell(_ text: Text)
}
