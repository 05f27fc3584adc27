/// The rows of a leaf page of a table, read one by one: a damaged row does not hide the others.
struct PageRows {
    /// A stored value of a row.
    enum Value {
        case null
        case integer(Int64)
        /// Bytes or a text, as a range of the row's content.
        case bytes(Range<Int>)
    }

    /// A row: its number, and where its content is.
    struct Row {
        let id: Int64
        let values: [Value]
        let content: Content
    }

    /// The content of a row: a part in its page, the rest in a chain of pages.
    struct Content {
        let local: [UInt8]
        let size: Int
        /// The first page of the chain; zero without one.
        let overflow: Int
    }

    private static let leafType: UInt8 = 13

    private let page: [UInt8]
    private let usableSize: Int
    private let start: Int

    /// Nil unless the page says that it is a leaf of a table.
    init?(_ number: Int, of pages: PageFile) {
        guard let page = pages[number] else { return nil }
        self.init(page, number: number, usableSize: pages.usableSize)
    }

    /// The same, from the bytes of a page.
    init?(_ page: [UInt8], number: Int, usableSize: Int) {
        start = number == 1 ? 100 : 0
        guard page[start] == Self.leafType else { return nil }
        self.page = page
        self.usableSize = usableSize
    }

    /// Returns what can be read of the rows.
    var rows: [Row] {
        let count = min(integer(at: start + 3), (usableSize - start - 8) / 2)
        return (0..<max(0, count)).compactMap { index in row(at: integer(at: start + 8 + 2 * index)) }
    }

    private func integer(at place: Int) -> Int { Int(page[place]) << 8 | Int(page[place + 1]) }

    private func row(at place: Int) -> Row? {
        var reader = VarintReader(page[..<usableSize], at: place)
        guard place > start, let size = reader.next(), let id = reader.next(), size > 0, size <= 1 << 30 else {
            return nil
        }
        guard let content = content(size: Int(size), at: reader.place), let values = Self.values(of: content) else {
            return nil
        }
        return Row(id: id, values: values, content: content)
    }

    private func content(size: Int, at place: Int) -> Content? {
        var local = size
        if size > usableSize - 35 {
            let least = (usableSize - 12) * 32 / 255 - 23
            local = least + (size - least) % (usableSize - 4)
            if local > usableSize - 35 { local = least }
        }
        let isLocal = local == size
        guard place + local + (isLocal ? 0 : 4) <= usableSize else { return nil }
        return Content(
            local: Array(page[place..<place + local]),
            size: size,
            overflow: isLocal ? 0 : Int(page.integer(at: place + local))
        )
    }

    /// The values of a row; nil if their sizes do not add up to its own.
    private static func values(of content: Content) -> [Value]? {
        var header = VarintReader(content.local[...], at: 0)
        guard let headerSize = header.next(), headerSize <= 64, headerSize <= content.local.count else { return nil }
        var place = Int(headerSize)
        var values: [Value] = []
        while header.place < Int(headerSize) {
            guard let type = header.next(), let value = value(type, at: place, in: content) else { return nil }
            values.append(value.value)
            place += value.size
        }
        return header.place == Int(headerSize) && place == content.size ? values : nil
    }

    private static func value(_ type: Int64, at place: Int, in content: Content) -> (value: Value, size: Int)? {
        switch type {
        case 0: return (.null, 0)
        case 8, 9: return (.integer(type - 8), 0)
        case 1...6:
            let size = [1, 2, 3, 4, 6, 8][Int(type) - 1]
            guard place + size <= content.local.count else { return nil }
            let bytes = content.local[place..<place + size]
            let sign: Int64 = bytes[place] & 0x80 == 0 ? 0 : -1
            return (.integer(bytes.reduce(sign) { value, byte in value << 8 | Int64(byte) }), size)
        case 12...:
            let size = Int(clamping: (type - 12) / 2)
            guard size <= content.size - place else { return nil }
            return (.bytes(place..<place + size), size)
        default: return nil
        }
    }
}

extension PageRows.Content {
    /// Returns a part; nil if a page of the chain cannot be read.
    func bytes(_ range: Range<Int>, of pages: PageFile) -> [UInt8]? {
        var result = Array(local[min(range.lowerBound, local.count)..<min(range.upperBound, local.count)])
        var place = local.count
        var next = overflow
        while place < range.upperBound {
            guard let page = pages[next] else { return nil }
            let end = min(size, place + pages.usableSize - 4)
            let wanted = range.clamped(to: place..<end)
            result += page[4 + wanted.lowerBound - place..<4 + wanted.upperBound - place]
            place = end
            next = Int(page.integer(at: 0))
        }
        return result
    }
}

/// Reads SQLite's variable-length integers.
private struct VarintReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var place: Int

    init(_ bytes: ArraySlice<UInt8>, at place: Int) {
        self.bytes = bytes
        self.place = place
    }

    mutating func next() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard place < bytes.endIndex else { return nil }
            let byte = bytes[place]
            place += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
