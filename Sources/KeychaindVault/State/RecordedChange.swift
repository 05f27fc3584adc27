import Logging

/// What a collection's file had when it was closed: without it, another state of the file that was put in its place
/// meanwhile would go unnoticed.
struct RecordedChange: Equatable, Sendable {
    /// More changes than anybody makes: a record that is so far ahead is forged or damaged.
    static let maximumMissing: UInt64 = 1 << 32

    /// The number of the last change.
    var number: UInt64
    /// The last sequence of the log.
    var sequence: UInt64
    /// The last change that was made here; nil if there was none.
    var own: LastChanges.Entry?

    /// Adds what was recorded before: the number of a lost change stays until that of a new one is higher.
    func merged(with earlier: RecordedChange) -> RecordedChange {
        var merged = self
        merged.number = Self.later(number, earlier.number)
        merged.sequence = Self.later(sequence, earlier.sequence)
        guard let known = earlier.own else { return merged }
        guard let own, own.vault == known.vault else {
            merged.own = own ?? known
            return merged
        }
        merged.own?.number = Self.later(own.number, known.number)
        return merged
    }

    private static func later(_ number: UInt64, _ recorded: UInt64) -> UInt64 {
        recorded > number && recorded - number <= maximumMissing ? recorded : number
    }
}

extension RecordedChange {
    /// Number (8), sequence (8), and if a change was made here, the vault and its number (8 each).
    fileprivate init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let number = reader.integer(UInt64.self), let sequence = reader.integer(UInt64.self) else { return nil }
        (self.number, self.sequence) = (number, sequence)
        guard let vault = reader.integer(UInt64.self), let own = reader.integer(UInt64.self) else { return }
        self.own = LastChanges.Entry(vault: vault, number: own)
    }

    fileprivate var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        bytes.append(bigEndian: sequence)
        if let own {
            bytes.append(bigEndian: own.vault)
            bytes.append(bigEndian: own.number)
        }
        return bytes
    }
}

extension StateFile {
    private static let prefix = "last-change/"

    /// The last change of a collection; nil if it was never recorded.
    func lastChange(of identifier: [UInt8]) -> RecordedChange? {
        let value = value(ofRecord: Self.recordName(Self.prefix, of: identifier))
        return value?.withRawBytes { bytes in RecordedChange(decoding: bytes) }
    }

    func setLastChange(_ change: RecordedChange, of identifier: [UInt8]) throws(VaultError) {
        let new = lastChange(of: identifier).map(change.merged) ?? change
        try set([Self.recordName(Self.prefix, of: identifier): .some(new.encoded)])
    }

    func forgetLastChange(of identifier: [UInt8]) throws(VaultError) {
        try set([Self.recordName(Self.prefix, of: identifier): nil])
    }
}

extension VaultFolder {
    /// The last change of a collection; nil if it was never recorded, or is to be forgotten.
    func lastChange(of identifier: [UInt8]) throws(VaultError) -> RecordedChange? {
        guard !obsoleteLastChanges.contains(identifier) else {
            // The disk may work again by now.
            forgetLastChange(of: identifier)
            return nil
        }
        return try openedState().lastChange(of: identifier)
    }

    /// A failure is only logged.
    func setLastChange(_ change: RecordedChange, of identifier: [UInt8]) {
        if obsoleteLastChanges.contains(identifier) { forgetLastChange(of: identifier) }
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in try state.setLastChange(change, of: identifier) }
        } catch {
            logger.warning("An older keychain file may go unnoticed, because the last change is not recorded: \(error)")
        }
    }

    /// Forgets the last change of a collection, whose file may be older from now on.
    ///
    /// After a failure, it is tried again when the last change is read or set.
    func forgetLastChange(of identifier: [UInt8]) {
        do throws(VaultError) {
            try changeState { (state) throws(VaultError) in try state.forgetLastChange(of: identifier) }
            obsoleteLastChanges.remove(identifier)
        } catch {
            obsoleteLastChanges.insert(identifier)
            logger.warning("After a restart, a restored keychain may pass for an older one: \(error)")
        }
    }
}
