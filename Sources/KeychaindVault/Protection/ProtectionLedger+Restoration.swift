import KeychaindModel

/// The state of a file that a person has restored.
struct RestoredState: Equatable, Sendable {
    var revision: UInt64
    /// See ``CollectionState/fingerprint``.
    var hash: [UInt8]

    static let hashSize = 32
}

/// What a restore has put back on purpose: it stays as protected as the ledger knows, and is no rollback.
extension ProtectionLedger {
    /// What the ledger knows and the file lacks, in words for a person; nil if nothing, or if a person wanted that.
    ///
    /// - Parameter unprotected: the revisions of the items whose protection only the ledger has.
    func rollback(of state: RestoredState, unprotected: [ItemID: UInt64]) -> String? {
        if state.revision < revision, restoredState != state {
            return "the file was rolled back to an older one; items that were protected later stay protected"
        }
        let count = unprotected.count(where: { item in restoredItems[item.key] != item.value })
        guard count > 0 else { return nil }
        return count == 1
            ? "1 of its items was rolled back to an unprotected revision; it stays protected"
            : "\(count) of its items were rolled back to an unprotected revision; they stay protected"
    }

    /// Notes a file that a person has restored; of any other file, forgets what it has no longer.
    ///
    /// - Returns: whether the ledger has changed.
    mutating func noteRestoration(
        of state: RestoredState,
        isRestored: Bool,
        unprotected: [ItemID: UInt64]
    ) -> Bool {
        let (oldState, oldItems) = (restoredState, restoredItems)
        if isRestored {
            restoredState = state.revision < revision ? state : nil
            restoredItems = unprotected
        } else {
            if restoredState != state { restoredState = nil }
            restoredItems = restoredItems.filter { item in unprotected[item.key] == item.value }
        }
        return restoredState != oldState || restoredItems != oldItems
    }

    /// Forgets what a change of the restored file has replaced; false if that is nothing.
    mutating func endRestoration(by rows: [RowChange]) -> Bool {
        guard restoredState != nil || !restoredItems.isEmpty else { return false }
        let (hadState, itemCount) = (restoredState != nil, restoredItems.count)
        restoredState = nil
        for row in rows { restoredItems[row.id] = nil }
        return hadState || restoredItems.count != itemCount
    }
}
