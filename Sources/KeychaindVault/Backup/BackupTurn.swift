/// Lets one task at a time make a backup, in order of arrival.
///
/// A copy that waits for the user's disk takes space and an open file; others are not made before it has ended.
final class BackupTurn {
    /// The tasks that wait; nil if nobody has the turn.
    private var waiting: ArraySlice<CheckedContinuation<Void, Never>>?

    func begin() async {
        guard waiting != nil else {
            waiting = []
            return
        }
        await withCheckedContinuation { continuation in waiting?.append(continuation) }
    }

    func end() {
        guard let next = waiting?.popFirst() else {
            waiting = nil
            return
        }
        next.resume()
    }
}
