/// Lets one task at a time do something, in order of arrival.
final class Turn {
    /// The tasks that wait; nil if nobody has the turn.
    private var waiting: ArraySlice<CheckedContinuation<Void, Never>>?

    var isTaken: Bool { waiting != nil }

    func begin() async {
        guard isTaken else {
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
