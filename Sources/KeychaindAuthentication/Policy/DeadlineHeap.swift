/// Objects with deadlines, of which the earliest is found and removed quickly: a binary heap.
struct DeadlineHeap<Object> {
    typealias Entry = (deadline: Duration, object: Object)

    private var entries: [Entry] = []

    init() {}

    init(_ entries: [Entry]) {
        self.entries = entries
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { moveDown(from: index) }
    }

    var count: Int { entries.count }

    /// The entry with the earliest deadline.
    var first: Entry? { entries.first }

    mutating func insert(_ object: Object, at deadline: Duration) {
        var index = entries.count
        entries.append((deadline, object))
        while index > 0, deadline < entries[(index - 1) / 2].deadline {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        moveDown(from: 0)
    }

    private mutating func moveDown(from start: Int) {
        var index = start
        while true {
            var earliest = index
            for child in 2 * index + 1...2 * index + 2
            where child < entries.count && entries[child].deadline < entries[earliest].deadline {
                earliest = child
            }
            if earliest == index { return }
            entries.swapAt(index, earliest)
            index = earliest
        }
    }
}
