import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct CheckCommand: CopiesCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the files of keychains, their past states and backups.",
        discussion: """
            Reads every item, beside other programs. Of a locked keychain only the structure is checked; unlock it \
            first to check everything. Ends with status 9 if something is damaged.
            """
    )

    @Argument(help: "The labels of keychains; by default all.")
    var keychains: [String] = []

    @OptionGroup var format: JSONArguments

    func run(_ provider: ProviderAccess) async throws {
        var checks: [KeychainCheck] = []
        let files = try await files(provider.client)
        defer { Terminal.progress(.empty) }
        for (index, file) in files.enumerated() {
            if !format.json { Terminal.progress(Text("checking \(index + 1) of \(files.count): \(file.visible)")) }
            let check = try await provider.client.check(file: file)
            checks.append(check)
            Terminal.progress(.empty)
            guard !format.json else { continue }
            for line in check.lines { try provider.output.line(line.localized) }
            // What is wrong with this file is told even if the check of the next one fails.
            try provider.output.flush()
        }
        if format.json { try provider.output.line(JSON.array(checks.map(\.json))) }
        try provider.output.flush()
        let damaged = checks.filter { check in !check.findings.isEmpty }
        guard !damaged.isEmpty else { return }
        throw CommandFailure(
            .badData,
            Text(
                damaged.count,
                one: "\(damaged.count) file is damaged",
                other: "\(damaged.count) files are damaged"
            )
        )
    }

    /// All files, or those of the named keychains, each of which has one.
    private func files(_ client: SecretClient) async throws -> [String] {
        let files = try await client.checkableFiles()
        guard !keychains.isEmpty else { return files }
        var names: Set<String> = []
        for label in keychains {
            let name = KeychainFile.name(try await Keychains.one(client, labeled: label))
            guard files.contains(where: { KeychainFile.keychain(of: $0) == name }) else {
                throw CommandFailure(.notFound, "the keychain “\(label.visible)” has no file")
            }
            names.insert(name)
        }
        return files.filter { names.contains(KeychainFile.keychain(of: $0)) }
    }
}

struct SalvageCommand: CopiesCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Take what is intact out of a damaged keychain into a new file.",
        discussion: """
            A dialog asks for your consent. The damaged file is kept beside the new one. “keychainctl restore --diff” \
            then shows which items a past state still has.
            """
    )

    @Argument(help: "The label of the keychain.")
    var keychain: String

    func run(_ provider: ProviderAccess) async throws {
        let client = provider.client
        let file = "keychain:" + KeychainFile.name(try await Keychains.one(client, labeled: keychain))
        guard try await salvage(file, client) else {
            throw CommandFailure(
                .refused,
                """
                “\(keychain.visible)” is not damaged, or nothing in it can be read; “keychainctl restore” \
                lists past states
                """
            )
        }
        let check = try await client.check(file: file)
        Terminal.say(
            Text(
                check.intactCount,
                one: "\(check.intactCount) item is in the new file; the damaged one is kept beside it.",
                other: "\(check.intactCount) items are in the new file; the damaged one is kept beside it."
            )
        )
    }

    /// False if there is nothing to salvage.
    private func salvage(_ file: String, _ client: SecretClient) async throws(SecretServiceError) -> Bool {
        do throws(SecretServiceError) {
            try await client.salvage(file)
            return true
        } catch  where error.code == .notSupported {
            return false
        }
    }
}

private enum KeychainFile {
    /// The name of a keychain's file, the last part of its path.
    static func name(_ collection: SecretCollection) -> String {
        collection.path.split(separator: "/").last.map(String.init) ?? ""
    }

    /// The name in the identifier of a file, such as `generation:login.….keychain`; empty if there is none.
    static func keychain(of file: String) -> String {
        let name = file.split(separator: ":", maxSplits: 1).last ?? ""
        return name.split(separator: ".").first.map { String($0) } ?? ""
    }
}

extension KeychainCheck {
    fileprivate var lines: [Text] {
        let items = Text(itemCount, one: "\(itemCount) item", other: "\(itemCount) items")
        let name = file.visible
        guard findings.isEmpty else {
            return [Text("\(name): damaged; \(intactCount) of \(items) intact")]
                + findings.map { finding in Text(verbatim: "  \(finding.visible)") }
        }
        switch depth {
        case .structure: return [Text("\(name): \(items), the structure is sound; unlock it to check everything")]
        case .metadata: return [Text("\(name): \(items), labels and attributes are sound; unlock it to check secrets")]
        case .everything: return [Text("\(name): \(items), all sound")]
        }
    }

    fileprivate var json: String {
        "{\"file\": \(JSON.string(file)), \"sound\": \(findings.isEmpty), \"items\": \(itemCount), "
            + "\"intact\": \(intactCount), \"depth\": \(JSON.string("\(depth)")), "
            + "\"findings\": [\(findings.map(JSON.string).joined(separator: ", "))]}"
    }
}
