import Glibc
import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindLanguage
import SecretServiceClient

/// An import: reads a source, compares it with keychaind, writes what is missing, and verifies it.
package struct Import: Sendable {
    package let source: ImportSource
    /// The keychain for all items; nil to keep the keychains of the source.
    package let single: String?
    package let passwords: ImportPasswords
    package let messages: any ImportMessages

    package init(
        source: ImportSource,
        into single: String?,
        passwords: ImportPasswords,
        messages: any ImportMessages
    ) {
        self.source = source
        self.single = single
        self.passwords = passwords
        self.messages = messages
    }

    /// What happens to an item that differs from the one in keychaind.
    package enum Decision: Sendable {
        case keep
        case replace
        /// Not decided: the item stays behind, and is named.
        case leave
    }

    /// Runs the import.
    ///
    /// - Parameters:
    ///   - decide: sees the plan before anything is written; nil ends the import, as for a dry run.
    ///   - finish: sees the report of an import that has begun to write, whether it succeeded or not.
    package func run(
        decide:
            @escaping @Sendable (ImportPlan, SourceContents) async throws -> (
                @Sendable (DifferingItem, String) throws -> Decision
            )?,
        finish: @escaping @Sendable (ImportReport) throws -> Void
    ) async throws {
        let contents = try await source.read(passwords, messages)
        try Task.checkCancellation()
        let target: TargetProvider
        do {
            target = try await TargetProvider.open()
        } catch {
            try Task.checkCancellation()
            throw Import.failure(error)
        }
        do {
            let keychains = TargetKeychains(target: target, passwords: passwords, messages: messages)
            let plan = try await ImportPlan.make(contents, into: single, keychains)
            try Task.checkCancellation()
            if let decision = try await decide(plan, contents) {
                try await write(plan, contents, keychains, decision, finish)
            }
            await target.end()
        } catch {
            await target.end()
            try Task.checkCancellation()
            throw Import.failure(error)
        }
    }

    // MARK: Writing

    private func write(
        _ plan: ImportPlan,
        _ contents: SourceContents,
        _ keychains: TargetKeychains,
        _ decision: @Sendable (DifferingItem, String) throws -> Decision,
        _ finish: @Sendable (ImportReport) throws -> Void
    ) async throws {
        var report = ImportReport(source: source.name)
        report.items = contents.keychains.reduce(0) { $0 + $1.items.count + $1.portalSecrets.count + $1.left.count }
        report.skippedKeychains = contents.skipped.map(\.name.visible)
        report.leave(plan.left)
        // Decided before anything is written, so that Ctrl-C at a question changes nothing.
        let work = try plan.keychains.map { try Work($0, decision) }
        var failure: (any Error)?
        do {
            try await write(work, keychains, &report)
            let writer = PortalSecretWriter(
                keychains: keychains,
                password: contents.keychains.first(where: \.isLogin)?.password,
                hasTriedLogin: single == nil
            )
            try await writer.write(contents.portalSecrets, &report)
        } catch {
            failure = error
        }
        report.finished = Import.now
        messages.finishProgress()
        do {
            try finish(report)
        } catch {
            // What ended the import says more than what it left.
            throw failure ?? error
        }
        if let failure { throw failure }
    }

    private func write(_ work: [Work], _ keychains: TargetKeychains, _ report: inout ImportReport) async throws {
        let total = work.reduce(0) { $0 + $1.tasks.count }
        let counter = Counter { [messages] in messages.progress(Text("Writing"), $0, of: total) }
        let start = Import.now
        for work in work {
            report.same += work.keychain.comparison.same.count
            report.verified += work.keychain.comparison.same.count
            report.leave(work.left)
            guard !work.tasks.isEmpty || work.keychain.name == TargetKeychains.login else { continue }
            try Task.checkCancellation()
            guard let collection = try await open(work.keychain, keychains) else {
                let reason = Text("there is no password for a new keychain “\(work.keychain.name)”")
                report.leave(work.tasks.map { $0.item.left(in: work.keychain.name, reason) })
                continue
            }
            if let label = work.keychain.label { try await keychains.label(collection, label) }
            let outcome = await ItemWriter(collection: collection) { counter.add($0) }.write(work.tasks)
            report.copied += outcome.written.count
            report.leave(outcome.refused.map { $0.item.left(in: work.keychain.name, Text(verbatim: $0.reason)) })
            messages.finishProgress()
            if let failure = outcome.failure { throw failure }
            try Task.checkCancellation()
            try await verify(outcome.written, start, keychains.target.client, work.keychain.name, &report)
        }
    }

    private func open(_ keychain: PlannedKeychain, _ keychains: TargetKeychains) async throws -> SecretCollection? {
        if let collection = keychain.collection { return collection }
        let collection = try await keychains.create(keychain.name, password: keychain.password)
        if let collection, keychain.isDefault { try await keychains.makeDefault(collection) }
        return collection
    }

    private func verify(
        _ written: [(item: ImportedItem, reference: SecretItem)],
        _ start: UInt64,
        _ client: SecretClient,
        _ keychain: String,
        _ report: inout ImportReport
    ) async throws {
        let counter = Counter { [messages] in messages.progress(Text("Verifying"), $0, of: written.count) }
        defer { messages.finishProgress() }
        let mismatches = try await Verification(start: start) { counter.add($0) }.mismatches(written, client)
        report.verified += written.count - mismatches.count
        report.copied -= mismatches.count
        report.leave(mismatches.map { $0.left(in: keychain, Text("keychaind does not return it as it was written")) })
    }

    private static var now: UInt64 { UInt64(max(0, time(nil))) }

    /// A failure of keychaind as a line with a status.
    private static func failure(_ error: any Error) -> any Error {
        guard let error = error as? SecretServiceError else { return error }
        let reason = error.reason.visible
        switch error.code {
        case .providerGone, .providerUnavailable, .disconnected, .timedOut, .busUnavailable:
            return CommandFailure(
                .noProvider,
                "keychaind ended or hung: \(reason). What it acknowledged is stored; run the import again"
            )
        case .locked:
            return CommandFailure(.locked, "keychaind's keychain was locked meanwhile; run the import again")
        case .dismissed, .cancelled:
            return CommandFailure(.cancelled, "cancelled; run the import again to continue")
        default:
            return CommandFailure(
                .inputOutput,
                "keychaind cannot store the items: \(reason). What it acknowledged is stored; run the import again"
            )
        }
    }
}

/// What is written into one keychain.
private struct Work {
    let keychain: PlannedKeychain
    var tasks: [ItemWriter.Task]
    var left: [LeftItem] = []

    init(_ keychain: PlannedKeychain, _ decision: (DifferingItem, String) throws -> Import.Decision) rethrows {
        self.keychain = keychain
        tasks = keychain.comparison.new.map { ItemWriter.Task(item: $0) }
        for differing in keychain.comparison.differing {
            switch try decision(differing, keychain.name) {
            case .replace: tasks.append(ItemWriter.Task(item: differing.item, replaced: differing))
            case .keep: left.append(differing.item.left(in: keychain.name, ImportReport.keptText))
            case .leave: left.append(differing.item.left(in: keychain.name, Text("it differs from keychaind's own")))
            }
        }
    }
}

extension ImportedItem {
    fileprivate func left(in keychain: String, _ reason: Text) -> LeftItem {
        LeftItem(label: item.label, keychain: keychain, reason: reason)
    }
}
