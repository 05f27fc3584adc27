package import KeychaindDBus
import KeychaindDesktop
package import KeychaindModel
package import KeychaindVault
import Logging

/// The sandboxed programs, and which of them see only their own items.
@BusActor
package final class Sandboxes {
    /// The items of a collection that rules share with a program, such as `flatpak:org.example.Mail`.
    package var sharedItems: @BusActor (_ program: String, Collection) -> Set<ItemID> = { _, _ in [] }

    /// Called with a program that was there before sandboxes were limited, at its first call since the start.
    package var onUnconfirmed: (@BusActor (_ program: String) -> Void)?

    /// Called when the list has changed.
    var onChange: (@BusActor () -> Void)?

    private let vault: Vault
    private let installations: SandboxInstallations
    private let looks: BlockingCalls
    private let logger: Logger
    private var records: [String: SandboxRecord] = [:]
    /// The first start that had records; entries of the audit from before are of sandboxes that were there.
    private var since = Timestamp(microsecondsSinceEpoch: .min)
    private let loaded = Promise<Void>()
    private var isRecorded = false

    /// The pause between two records of a program's last call, in microseconds.
    private static let callPause: Int64 = 60_000_000

    init(in vault: Vault, installations: SandboxInstallations, logger: Logger) {
        self.vault = vault
        self.installations = installations
        looks = BlockingCalls(limit: 1, patience: installations.patience, mostForOne: 1)
        self.logger = logger
    }

    /// Reads the records that could not be read at the start.
    func recordsCanBeRead() async {
        if !isRecorded { await vaultIsOpen() }
    }

    /// Reads the records; at the first start, records the sandboxes that are installed.
    func vaultIsOpen() async {
        defer { loaded.fulfill() }
        do throws(VaultError) {
            let stored = try await vault.sandboxRecords()
            records = stored.programs
            if let since = stored.since {
                self.since = since
                isRecorded = true
                return
            }
            guard let installed = await installedPrograms() else {
                return reportLimits(because: "the folders of installed programs do not answer")
            }
            let now = Timestamp.now()
            since = now
            isRecorded = true
            for program in installed where records[program] == nil && hasRoom {
                records[program] = SandboxRecord(.unconfirmed)
            }
            try await vault.record(records, since: now)
        } catch {
            reportLimits(because: "\(error)")
        }
    }

    /// The programs that are installed; nil if their folders do not answer in time.
    private func installedPrograms() async -> Set<String>? {
        await looks.runEventually(for: "installations", while: { [vault] in vault.isOpen }) { [installations] in
            installations.programs()
        }
    }

    /// Logs that every sandbox is limited, since there are no records.
    private func reportLimits(because reason: String) {
        // A daemon that is ending needs none.
        guard vault.isOpen else { return }
        logger.error("Sandboxes are not recorded, and all are limited", metadata: ["reason": "\(reason)"])
    }

    // MARK: Views

    /// The view of a program in a sandbox, or outside of any.
    func view(of confinement: Confinement) async -> ClientView {
        switch confinement {
        case .none: return .everything(nil)
        case .unknown: return .nothing
        case .sandbox(let sandbox):
            guard sandbox.isProven, let program = sandbox.identity else { return .nothing }
            await loaded.wait()
            let state = await state(of: program, sandbox)
            noteCall(of: program)
            return await view(of: program, state)
        }
    }

    private func view(of program: String, _ state: SandboxRecord.State) async -> ClientView {
        do throws(VaultError) {
            let stamp = try vault.stamp(of: program)
            guard case .limited = state else { return .everything(stamp) }
            let files = await BlockingThread.run { AccessGroups.read() }
            var groups: [String: [Stamp]] = [:]
            for (group, members) in files.groups(of: program) {
                groups[group] = []
                for member in members where member != program { groups[group]?.append(try vault.stamp(of: member)) }
            }
            return .own(
                SandboxView(of: stamp, groups: groups, in: vault) { [weak self] program, collection in
                    self?.sharedItems(program, collection) ?? []
                }
            )
        } catch {
            logger.error("A sandbox is shown no items", metadata: ["reason": "\(error)"])
            return .nothing
        }
    }

    private func state(of program: String, _ sandbox: Sandbox) async -> SandboxRecord.State {
        if let record = records[program] {
            if record.state == .unconfirmed { onUnconfirmed?(program) }
            return record.state
        }
        guard isRecorded, hasRoom, let wasThere = await wasAudited(sandbox) else { return .limited }
        // Another connection of the program may have been faster.
        if let record = records[program] { return record.state }
        guard hasRoom else { return .limited }
        let state = wasThere ? SandboxRecord.State.unconfirmed : .limited
        await set(state, for: program)
        if wasThere { onUnconfirmed?(program) }
        return state
    }

    /// Whether one more program can be recorded: a user's programs can make sandboxes without end.
    private var hasRoom: Bool { records.count < SandboxRecord.limit }

    /// Whether the audit has entries of a sandbox from before the records; nil if the audit cannot be read now.
    private func wasAudited(_ sandbox: Sandbox) async -> Bool? {
        guard let entries = try? await vault.auditEntries(since: nil, limit: AuditEntry.maximumCount) else {
            return nil
        }
        return entries.contains { $0.time < since && AuditedCaller(packed: $0.caller).text == sandbox.description }
    }

    private func noteCall(of program: String) {
        let now = Timestamp.now()
        // Records are not sealed: any time may stand in one, and a difference of times could overflow.
        let latest = Timestamp(microsecondsSinceEpoch: now.microsecondsSinceEpoch - Sandboxes.callPause)
        guard var record = records[program], record.lastCall.map({ $0 < latest }) ?? true else { return }
        record.lastCall = now
        records[program] = record
        BusActor.start { [vault, record] in try? await vault.record([program: record]) }
    }

    // MARK: States

    /// Records a state; a failure is logged, and the state counts until the end of the process.
    func set(_ state: SandboxRecord.State, for program: String) async {
        var record = records[program] ?? SandboxRecord(state)
        record.state = state
        records[program] = record
        do throws(VaultError) {
            try await vault.record([program: record])
        } catch {
            logger.error("The state of a sandbox could not be recorded", metadata: ["reason": "\(error)"])
        }
        onChange?()
    }

    /// The present view of a recorded program.
    func currentView(of program: String) async -> ClientView {
        await view(of: program, records[program]?.state ?? .limited)
    }

    // MARK: Items

    /// The items that a program has stored, and for an unconfirmed one those that it has read as the audit says.
    func items(of program: String) async throws(VaultError) -> [ItemReference] {
        let isUnconfirmed = records[program]?.state == .unconfirmed
        return try items(of: program, in: isUnconfirmed ? await auditEntries : [])
    }

    /// The recorded programs by identity, each with the number of its items.
    func list() async throws(VaultError) -> [(program: String, record: SandboxRecord, items: Int)] {
        await loaded.wait()
        let entries = await auditEntries
        var rows: [(program: String, record: SandboxRecord, items: Int)] = []
        for (program, record) in records.sorted(by: { $0.key < $1.key }) {
            rows.append((program, record, try items(of: program, in: entries).count))
        }
        return rows
    }

    /// The entries of the audit, newest first; none before `login` is unlocked.
    private var auditEntries: [AuditEntry] {
        get async { (try? await vault.auditEntries(since: nil, limit: AuditEntry.maximumCount)) ?? [] }
    }

    private func items(of program: String, in entries: [AuditEntry]) throws(VaultError) -> [ItemReference] {
        let stamp = try vault.stamp(of: program)
        var found: [ItemReference] = []
        for collection in vault.collections {
            found += collection.search(stamp.attribute).sorted().map { ItemReference($0, in: collection) }
        }
        guard records[program]?.state == .unconfirmed else { return found }
        var known = Set(found)
        for path in Sandboxes.audited(in: entries, of: program) {
            guard case .item(let reference, let id) = SecretPath(path), let collection = vault.find(reference),
                collection.contains(id), collection.item(id)?.attributes[Attributes.program] == nil
            else { continue }
            let item = ItemReference(id, in: collection)
            if known.insert(item).inserted { found.append(item) }
        }
        return found
    }

    /// The items that a program has used, as the audit says.
    private static func audited(in entries: [AuditEntry], of program: String) -> [ObjectPath] {
        guard let description = description(of: program) else { return [] }
        let kinds: Set<AuditEntry.Kind> = [.release, .keyUse, .change, .accessControlChange]
        var known: Set<String> = []
        return entries.filter { kinds.contains($0.kind) && AuditedCaller(packed: $0.caller).text == description }
            .compactMap { known.insert($0.item).inserted ? ObjectPath($0.item) : nil }
    }

    /// The words for a program in the audit.
    private static func description(of program: String) -> String? {
        guard AccessGroups.isIdentity(program), let colon = program.firstIndex(of: ":") else { return nil }
        let name = String(program[program.index(after: colon)...])
        return switch program[..<colon] {
        case "flatpak": Sandbox.flatpak(name).description
        case "snap": Sandbox.snap(name, evidence: .securityLabel).description
        default: Sandbox.profile(name).description
        }
    }
}
