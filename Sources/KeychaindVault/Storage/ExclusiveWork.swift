import KeychaindModel

/// Locks for what one task at a time does, held in order of arrival.
final class ExclusiveWork {
    enum Work: Hashable {
        /// A copy that waits for the user's disk takes space and an open file.
        case backup

        /// The replacement or removal of a collection: two at once would leave two open collections of one file, each
        /// without the changes of the other.
        case replacement(CollectionName)
    }

    /// The tasks that wait for each work that is under way.
    private var waiting: [Work: ArraySlice<CheckedContinuation<Void, Never>>] = [:]

    func begin(_ work: Work) async {
        guard waiting[work] != nil else {
            waiting[work] = []
            return
        }
        await withCheckedContinuation { continuation in waiting[work]?.append(continuation) }
    }

    func end(_ work: Work) {
        guard let next = waiting[work]?.popFirst() else {
            waiting[work] = nil
            return
        }
        next.resume()
    }
}
