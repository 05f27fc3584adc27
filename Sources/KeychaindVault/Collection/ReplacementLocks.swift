import KeychaindModel

/// Locks by name: one task at a time replaces or removes a collection.
///
/// Two at once would leave two open collections of one file, each without the changes of the other.
final class ReplacementLocks {
    private var turns: [CollectionName: Turn] = [:]

    func lock(_ name: CollectionName) async {
        let turn = turns[name] ?? Turn()
        turns[name] = turn
        await turn.begin()
    }

    func unlock(_ name: CollectionName) {
        guard let turn = turns[name] else { return }
        turn.end()
        if !turn.isTaken { turns[name] = nil }
    }
}
