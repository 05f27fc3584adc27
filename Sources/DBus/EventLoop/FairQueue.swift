/// What waits to be taken, in turn between those for whom it waits, and in order of arrival for each: however much one brings, the
/// others are not kept waiting by more than one of it each.
package struct FairQueue<Owner: Hashable, Element: Equatable> {
    /// What has become of an element that was to be added.
    package enum Insertion {
        /// It waits.
        case added
        /// It waits, in the place of another, which was the last of the owner with the most.
        case addedInPlace(of: Element)
        /// There is no room for it.
        case refused
    }

    private let limit: Int
    private var owners: [Owner] = []
    private var elements: [Owner: ArraySlice<Element>] = [:]

    /// How many elements wait.
    package private(set) var count = 0

    /// Creates an empty queue.
    ///
    /// - Parameter limit: how many elements may wait.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Adds an element at the end of what waits for an owner.
    ///
    /// In a full queue, whoever has the most has to give way to those with less: nobody can fill it alone.
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

    /// Takes the next element.
    package mutating func takeNext() -> Element? {
        guard !owners.isEmpty else { return nil }
        let owner = owners.removeFirst()
        guard let element = elements[owner]?.popFirst() else { return nil }
        count -= 1
        if elements[owner]?.isEmpty == true { elements[owner] = nil } else { owners.append(owner) }
        return element
    }

    /// How many elements of an owner wait.
    package func count(of owner: Owner) -> Int {
        elements[owner]?.count ?? 0
    }

    /// Takes out all that waits for an owner.
    package mutating func removeAll(of owner: Owner) -> [Element] {
        guard let own = elements.removeValue(forKey: owner) else { return [] }
        count -= own.count
        owners.removeAll { $0 == owner }
        return Array(own)
    }

    /// Takes an element out, wherever it is.
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
