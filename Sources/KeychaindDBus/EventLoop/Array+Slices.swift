extension Array {
    /// Sorts the elements, and lets others in between; equal ones stay in their order.
    ///
    /// An array of numbers is copied and freed quickly; one of objects takes long for either.
    @BusActor
    package mutating func sort(
        _ slice: inout TimeSlice,
        by comesBefore: (Element, Element) -> Bool
    ) async {
        for start in stride(from: 0, to: count, by: Array.sortedAtOnce) {
            await slice.yieldIfOver()
            self[start..<Swift.min(start + Array.sortedAtOnce, count)].sort(by: comesBefore)
        }
        var length = Array.sortedAtOnce
        while length < count {
            await mergeRuns(of: length, &slice, by: comesBefore)
            length *= 2
        }
    }

    private static var sortedAtOnce: Int { 32 }

    /// Merges each two neighbouring runs of sorted elements.
    @BusActor
    private mutating func mergeRuns(
        of length: Int,
        _ slice: inout TimeSlice,
        by comesBefore: (Element, Element) -> Bool
    ) async {
        var merged: [Element] = []
        merged.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: 2 * length) {
            let middle = Swift.min(start + length, count)
            let end = Swift.min(middle + length, count)
            var (left, right) = (start, middle)
            while left < middle || right < end {
                if merged.count % Array.sortedAtOnce == 0 { await slice.yieldIfOver() }
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
    }
}
