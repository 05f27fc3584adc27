/// What a store may hold, as the client knows that has written to it.
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

    /// More than one content only while a change has not been acknowledged.
    private var contents: [String: Set<Content>] = [:]

    /// The keys of all items that are known to be there.
    var present: [String] {
        contents.compactMap { $0.value.count == 1 && !$0.value.contains(.absent) ? $0.key : nil }.sorted()
    }

    /// Notes that a change has been asked for.
    mutating func began(_ key: String, _ content: Content) {
        contents[key, default: [.absent]].insert(content)
    }

    /// Notes that the change has been acknowledged: from now on nothing else is right.
    mutating func acknowledged(_ key: String, _ content: Content) {
        contents[key] = [content]
    }

    /// Compares with what is in the store after a restart, which then is what is known; returns what is wrong.
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
