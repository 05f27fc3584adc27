import SecretServiceClient

extension SecretClient {
    /// Deletes all matching items.
    ///
    /// - Returns: the number of items.
    func delete(_ query: ItemQuery, _ search: ItemSearch?) async throws(SecretServiceError) -> Int {
        try await ItemUnlocking.during(query, to: .delete, on: self) { (unlocking) throws(SecretServiceError) in
            let matches = try await matches(search, query.reference, limit: .max, unlockedBy: unlocking)
            let items = try await unlocking.open(matches, allAreNeeded: true).map(\.item)
            if let count = try await deleteTogether(items, unlocking) { return count }
            var count = 0
            for item in items {
                do throws(SecretServiceError) {
                    try await unlocking.using(item) { () throws(SecretServiceError) in
                        try await item.delete(prompting: query.prompting)
                    }
                    count += 1
                } catch  where error.code == .noSuchObject {
                    continue
                }
            }
            return count
        }
    }

    /// Deletes all of several items, or none.
    ///
    /// - Returns: the number of items; nil if they must be deleted one by one.
    private func deleteTogether(
        _ items: [SecretItem],
        _ unlocking: ItemUnlocking
    ) async throws(SecretServiceError) -> Int? {
        var left = items
        while left.count > 1 {
            let asked = left
            do throws(SecretServiceError) {
                let isDone = try await unlocking.using(asked) { () throws(SecretServiceError) in
                    try await deleteAtOnce(asked)
                }
                return isDone ? asked.count : nil
            } catch  where error.code == .noSuchObject {
                // One was deleted meanwhile; the others are still deleted together.
                guard let records = try await read(asked, withSecrets: false), records.count < asked.count else {
                    return nil
                }
                left = records.map(\.item)
            }
        }
        return nil
    }
}
