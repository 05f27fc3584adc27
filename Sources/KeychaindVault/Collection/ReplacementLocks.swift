import KeychaindModel

/// Locks by name: one task at a time, in order of arrival, replaces or removes a collection.
///
/// Two at once would leave two open collections of one file, each without the changes of the other.
final class ReplacementLocks {
    /// The tasks that wait for a lock that is held.
    private var waiting: [CollectionName: ArraySlice<CheckedContinuation<Void, Never>>] = [:]

    func lock(_ name: CollectionName) async {
        guard waiting[name] != nil else {
            waiting[name] = []
            return
        }
        await withCheckedContinuation { continuation in waiting[name]?.append(continuation) }
    }

    func unlock(_ name: CollectionName) {
        guard let next = waiting[name]?.popFirst() else {
            waiting[name] = nil
            return
        }
        next.resume()
    }
}
