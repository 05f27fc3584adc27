extension Array {
    /// Sorts the elements in parts, with a pause between them; equal ones stay in their order.
    ///
    /// An array of numbers is copied and freed quickly; one of objects takes long for either.
    ///
    /// - Parameter pause: pauses, and returns whether to go on.
    /// - Returns: false if a pause ended it; the elements are then in any order.
    @discardableResult
    package mutating func sort(
        pausing pause: () async -> Bool,
        by comesBefore: (Element, Element) -> Bool
    ) async -> Bool {
        for start in stride(from: 0, to: count, by: Array.sortedAtOnce) {
            guard await pause() else { return false }
            self[start..<Swift.min(start + Array.sortedAtOnce, count)].sort(by: comesBefore)
        }
        var length = Array.sortedAtOnce
        while length < count {
            guard await mergeRuns(of: length, pausing: pause, by: comesBefore) else { return false }
            length *= 2
        }
        return true
    }

    private static var sortedAtOnce: Int { 32 }

    /// Merges each two neighbouring runs of sorted elements.
    private mutating func mergeRuns(
        of length: Int,
        pausing pause: () async -> Bool,
        by comesBefore: (Element, Element) -> Bool
    ) async -> Bool {
        var merged: [Element] = []
        merged.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: 2 * length) {
            let middle = Swift.min(start + length, count)
            let end = Swift.min(middle + length, count)
            var (left, right) = (start, middle)
            while left < middle || right < end {
                if merged.count % Array.sortedAtOnce == 0 {
                    guard await pause() else { return false }
                }
                if right == end || left < middle && !comesBefore(self[right], self[left]) {
                    merged.append(self[left])
                    left += 1
                } else {
                    merged.append(self[right])
                    right += 1
                }
            }
        }
        self = merged
        return true
    }
}
