/// A sorted list of item positions without duplicates.
struct PostingList: Equatable, Sendable {
    private var positions: [UInt32]

    init() {
        positions = []
    }

    init(_ position: UInt32) {
        positions = [position]
    }

    var count: Int { positions.count }

    var only: UInt32? { positions.count == 1 ? positions[0] : nil }

    func contains(_ position: UInt32) -> Bool {
        let index = insertionPoint(of: position)
        return index < positions.count && positions[index] == position
    }

    func forEach(_ body: (UInt32) -> Void) {
        for position in positions { body(position) }
    }

    /// Cheap at the end, where new items are.
    mutating func insert(_ position: UInt32) {
        guard let last = positions.last, last >= position else {
            positions.append(position)
            return
        }
        let index = insertionPoint(of: position)
        if positions[index] != position { positions.insert(position, at: index) }
    }

    mutating func remove(_ position: UInt32) {
        let index = insertionPoint(of: position)
        if index < positions.count, positions[index] == position { positions.remove(at: index) }
    }

    /// Replaces all positions; `targets` must be ascending.
    mutating func move(_ targets: [UInt32]) {
        for index in positions.indices { positions[index] = targets[Int(positions[index])] }
    }

    private func insertionPoint(of position: UInt32) -> Int {
        var low = 0
        var high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
