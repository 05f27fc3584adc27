import KeychaindModel

/// What the items of sandboxed programs take in a collection, with the changes of a batch.
struct SandboxUsage {
    private let limits: VaultLimits
    private let indexKey: BlindIndexKey
    /// Before the batch, for each program that was asked about.
    private var stored: [String: ItemUsage] = [:]
    private var changes: [String: ItemUsage] = [:]

    init(limits: VaultLimits, indexKey: BlindIndexKey) {
        self.limits = limits
        self.indexKey = indexKey
    }

    /// Takes what a new or changed item of a program needs.
    ///
    /// Throws `limitExceeded` if a sandboxed program asks for more than there is; what makes nothing larger is always
    /// allowed.
    mutating func take(
        _ new: ItemUsage,
        instead old: ItemUsage = ItemUsage(),
        of metadata: ItemMetadata,
        if isSandboxed: Bool,
        in table: borrowing ItemTable
    ) throws(VaultError) {
        let attributes = metadata.attributes
        // Most items have no reserved attributes.
        guard attributes.hasReserved, let program = attributes[Attributes.program] else { return }
        let growth = new - old
        if isSandboxed, growth.items > 0 || growth.bytes > 0 { try check(growth, of: program, in: table) }
        changes[program] = changes[program, default: ItemUsage()] + growth
    }

    /// Gives back what an item took that is deleted.
    mutating func giveBack(_ record: ItemRecord) {
        guard let program = record.metadata.attributes[Attributes.program] else { return }
        changes[program] = changes[program, default: ItemUsage()] - ItemUsage(of: record)
    }

    private mutating func check(
        _ growth: ItemUsage,
        of program: String,
        in table: borrowing ItemTable
    ) throws(VaultError) {
        let usage = try usage(of: program, in: table) + growth
        guard growth.items <= 0 || usage.items <= limits.sandboxItems else {
            throw VaultError(
                .limitExceeded,
                reason: "a sandboxed program has at most \(limits.sandboxItems) items in a keychain"
            )
        }
        guard growth.bytes <= 0 || usage.bytes <= limits.sandboxBytes else {
            throw VaultError(
                .limitExceeded,
                reason: "the items of a sandboxed program have at most \(limits.sandboxBytes >> 20) MiB in a keychain"
            )
        }
    }

    /// One look at the items of a program serves for all of its changes in a batch.
    private mutating func usage(of program: String, in table: borrowing ItemTable) throws(VaultError) -> ItemUsage {
        let change = changes[program] ?? ItemUsage()
        if let known = stored[program] { return known + change }
        var usage = ItemUsage()
        for tag in try indexKey.tags(of: Attributes([(Attributes.program, program)])) {
            usage = table.usage(ofTag: tag)
        }
        stored[program] = usage
        return usage + change
    }
}

/// How much items take: labels, attributes and sealed secrets.
struct ItemUsage: Sendable {
    var items = 0
    var bytes = 0

    static func + (first: ItemUsage, second: ItemUsage) -> ItemUsage {
        ItemUsage(items: first.items + second.items, bytes: first.bytes + second.bytes)
    }

    static func - (first: ItemUsage, second: ItemUsage) -> ItemUsage {
        ItemUsage(items: first.items - second.items, bytes: first.bytes - second.bytes)
    }
}

extension ItemUsage {
    init(of metadata: ItemMetadata, secretBytes: Int) {
        self.init(items: 1, bytes: metadata.textBytes + secretBytes)
    }

    init(of record: ItemRecord) {
        self.init(of: record.metadata, secretBytes: Int(record.secretBytes))
    }
}

extension ItemTable {
    /// What the items with an attribute take.
    func usage(ofTag tag: UInt64) -> ItemUsage {
        var usage = ItemUsage()
        index[tag].forEach { position in usage = usage + ItemUsage(of: records[Int(position)]) }
        return usage
    }
}
