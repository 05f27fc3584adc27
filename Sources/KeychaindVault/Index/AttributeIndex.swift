/// An index from blind tags to the positions of items.
///
/// An open-addressing hash table, at least a fifth of it free, with 12 bytes per cell. Most attributes belong to one
/// item, whose position is in the cell; otherwise the cell refers to a sorted list.
struct AttributeIndex: Sendable {
    enum Postings {
        case none
        case one(UInt32)
        case many(PostingList)

        var count: Int {
            switch self {
            case .none: 0
            case .one: 1
            case .many(let list): list.count
            }
        }

        func contains(_ position: UInt32) -> Bool {
            switch self {
            case .none: false
            case .one(let only): only == position
            case .many(let list): list.contains(position)
            }
        }

        func forEach(_ body: (UInt32) -> Void) {
            switch self {
            case .none: break
            case .one(let only): body(only)
            case .many(let list): list.forEach(body)
            }
        }
    }

    /// The highest position that leaves room for the list flag.
    static let maximumPosition = UInt32(1) << 31 - 2

    private static let listMark = UInt32(1) << 31

    private var tags: [UInt64] = []
    // Zero for a free cell, a position plus one, or the list flag and the number of a list.
    private var cells: [UInt32] = []
    private var lists: [PostingList] = []
    private var freeLists: [UInt32] = []
    private var count = 0
    private let seed = UInt64.random(in: .min ... .max) | 1

    subscript(tag: UInt64) -> Postings {
        guard let index = find(tag) else { return .none }
        let cell = cells[index]
        if cell & Self.listMark != 0 { return .many(lists[Int(cell & ~Self.listMark)]) }
        return .one(cell - 1)
    }

    /// Makes room for tags that differ.
    mutating func reserve(tags: Int) {
        var size = 16
        while size / 5 * 4 < tags { size *= 2 }
        if size > cells.count { resize(to: size) }
    }

    mutating func insert(_ position: UInt32, for tag: UInt64) {
        if count + 1 > cells.count / 5 * 4 { resize(to: max(16, cells.count * 2)) }
        var index = home(of: tag)
        while cells[index] != 0, tags[index] != tag { index = (index + 1) & (cells.count - 1) }
        let cell = cells[index]
        if cell == 0 {
            tags[index] = tag
            cells[index] = position + 1
            count += 1
        } else if cell & Self.listMark != 0 {
            lists[Int(cell & ~Self.listMark)].insert(position)
        } else if cell - 1 != position {
            var list = PostingList(cell - 1)
            list.insert(position)
            cells[index] = Self.listMark | store(list)
        }
    }

    mutating func remove(_ position: UInt32, for tag: UInt64) {
        guard let index = find(tag) else { return }
        let cell = cells[index]
        if cell & Self.listMark != 0 {
            let list = Int(cell & ~Self.listMark)
            lists[list].remove(position)
            if let only = lists[list].only {
                lists[list] = PostingList()
                freeLists.append(UInt32(list))
                cells[index] = only + 1
            }
        } else if cell - 1 == position {
            free(index)
        }
    }

    /// Replaces each position by the element of `positions` at it; these must ascend.
    mutating func move(_ positions: [UInt32]) {
        for index in cells.indices where cells[index] != 0 && cells[index] & Self.listMark == 0 {
            cells[index] = positions[Int(cells[index] - 1)] + 1
        }
        for index in lists.indices { lists[index].move(positions) }
    }

    private mutating func store(_ list: PostingList) -> UInt32 {
        if let free = freeLists.popLast() {
            lists[Int(free)] = list
            return free
        }
        lists.append(list)
        return UInt32(lists.count - 1)
    }

    private func home(of tag: UInt64) -> Int {
        // Tags are uniform, but a forged file may hold any; the seed prevents chosen collisions.
        Int(truncatingIfNeeded: (tag &* seed) >> 32) & (cells.count - 1)
    }

    private func find(_ tag: UInt64) -> Int? {
        guard count > 0 else { return nil }
        var index = home(of: tag)
        while cells[index] != 0 {
            if tags[index] == tag { return index }
            index = (index + 1) & (cells.count - 1)
        }
        return nil
    }

    /// Frees a cell and moves up the cells that follow, so that probing still finds them.
    private mutating func free(_ freed: Int) {
        var hole = freed
        var index = (hole + 1) & (cells.count - 1)
        while cells[index] != 0 {
            let distance = (index - home(of: tags[index])) & (cells.count - 1)
            if distance >= (index - hole) & (cells.count - 1) {
                tags[hole] = tags[index]
                cells[hole] = cells[index]
                hole = index
            }
            index = (index + 1) & (cells.count - 1)
        }
        cells[hole] = 0
        count -= 1
    }

    private mutating func resize(to size: Int) {
        let oldTags = tags
        let oldCells = cells
        tags = [UInt64](repeating: 0, count: size)
        cells = [UInt32](repeating: 0, count: size)
        for index in oldCells.indices where oldCells[index] != 0 {
            var target = home(of: oldTags[index])
            while cells[target] != 0 { target = (target + 1) & (size - 1) }
            tags[target] = oldTags[index]
            cells[target] = oldCells[index]
        }
    }
}

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
