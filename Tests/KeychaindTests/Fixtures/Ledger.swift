/// The possible contents of a store, as known to the client that writes to it.
struct Ledger {
    /// An item's secret, or no item.
    enum Content: Hashable, CustomStringConvertible {
        case absent
        case secret([UInt8])

        var description: String {
            switch self {
            case .absent: "no item"
            case .secret(let bytes): "\(bytes.count) bytes"
            }
        }
    }

    /// More than one content only during an unacknowledged change.
    private var contents: [String: Set<Content>] = [:]

    /// The keys of all items that exist for certain.
    var present: [String] {
        contents.compactMap { $0.value.count == 1 && !$0.value.contains(.absent) ? $0.key : nil }.sorted()
    }

    /// Records a requested change.
    mutating func began(_ key: String, _ content: Content) {
        contents[key, default: [.absent]].insert(content)
    }

    /// Records an acknowledged change: only this content is right after it.
    mutating func acknowledged(_ key: String, _ content: Content) {
        contents[key] = [content]
    }

    /// Compares with the store after a restart and adopts its content; returns the differences.
    mutating func settle(_ found: [String: [UInt8]]) -> [String] {
        var problems: [String] = []
        for key in Set(contents.keys).union(found.keys).sorted() {
            let content = found[key].map(Content.secret) ?? .absent
            let allowed = contents[key, default: [.absent]]
            if !allowed.contains(content) {
                problems.append("\(key) is \(content), and should be \(allowed)")
            }
            contents[key] = [content]
        }
        return problems
    }
}
