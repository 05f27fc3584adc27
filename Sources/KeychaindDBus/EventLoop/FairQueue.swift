/// A queue that serves its owners round-robin, and the elements of each owner in order of arrival.
///
/// However many elements one owner adds, another waits for at most one of them per own element.
package struct FairQueue<Owner: Hashable, Element: Equatable> {
    package enum Insertion {
        case added
        /// Added in a full queue, which dropped the last element of the owner with the most.
        case addedInPlace(of: Element)
        case refused
    }

    private let limit: Int
    private var owners: [Owner] = []
    private var elements: [Owner: ArraySlice<Element>] = [:]

    package private(set) var count = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// In a full queue, the owner with the most elements gives way to owners with fewer: no owner can fill it alone.
    package mutating func insert(_ element: Element, of owner: Owner) -> Insertion {
        guard count >= limit else {
            append(element, of: owner)
            return .added
        }
        let own = elements[owner]?.count ?? 0
        guard
            let greatest = owners.max(by: { elements[$0, default: []].count < elements[$1, default: []].count }),
            let last = elements[greatest]?.last, elements[greatest, default: []].count > own + 1
        else { return .refused }
        remove(last, of: greatest)
        append(element, of: owner)
        return .addedInPlace(of: last)
    }

    package mutating func takeNext() -> Element? {
        guard !owners.isEmpty else { return nil }
        let owner = owners.removeFirst()
        guard let element = elements[owner]?.popFirst() else { return nil }
        count -= 1
        if elements[owner]?.isEmpty == true { elements[owner] = nil } else { owners.append(owner) }
        return element
    }

    package func count(of owner: Owner) -> Int {
        elements[owner]?.count ?? 0
    }

    package mutating func remove(_ element: Element, of owner: Owner) {
        guard var own = elements[owner], let index = own.lastIndex(of: element) else { return }
        own.remove(at: index)
        count -= 1
        elements[owner] = own.isEmpty ? nil : own
        if own.isEmpty { owners.removeAll { $0 == owner } }
    }

    private mutating func append(_ element: Element, of owner: Owner) {
        if elements[owner] == nil { owners.append(owner) }
        elements[owner, default: []].append(element)
        count += 1
    }
}
