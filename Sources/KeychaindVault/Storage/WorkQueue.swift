/// The owner of a key derivation or a change.
package enum WorkOwner: Hashable, Sendable {
    /// A person who waits at a login or at a dialog.
    case person
    /// The client whose call needs the work.
    case client(ObjectIdentifier)

    /// The owner of the present task's work.
    @TaskLocal package static var current = WorkOwner.person
}

/// Waiting work, round-robin by client, and in order of arrival for each owner.
///
/// A person is served first, but not twice in a row while a client waits: neither can starve the other.
package struct WorkQueue<Element> {
    private var elements: [WorkOwner: [Element]] = [:]
    /// The clients with elements; the next first.
    private var clients: [WorkOwner] = []
    private var lastOwner: WorkOwner?

    package init() {}

    package mutating func add(_ element: Element, for owner: WorkOwner) {
        if owner != .person, elements[owner] == nil { clients.append(owner) }
        elements[owner, default: []].append(element)
    }

    package mutating func takeNext() -> Element? {
        guard let owner = nextOwner(except: []) else { return nil }
        return takeFirst(of: owner)
    }

    /// Takes elements in turn as long as they are accepted; an owner's elements wait behind one that is not.
    package mutating func takeAll(accepting accept: (Element) -> Bool) {
        var passed: Set<WorkOwner> = []
        while let owner = nextOwner(except: passed), let element = elements[owner]?.first {
            if accept(element) { _ = takeFirst(of: owner) } else { passed.insert(owner) }
        }
    }

    /// Takes everything, in order for each owner.
    package mutating func takeAll() -> [Element] {
        defer { self = WorkQueue() }
        return elements.values.flatMap { elements in elements }
    }

    private func nextOwner(except passed: Set<WorkOwner>) -> WorkOwner? {
        let client = clients.first { client in !passed.contains(client) }
        guard elements[.person] != nil, !passed.contains(.person) else { return client }
        return lastOwner == .person ? client ?? .person : .person
    }

    private mutating func takeFirst(of owner: WorkOwner) -> Element? {
        let element = elements[owner]?.removeFirst()
        lastOwner = owner
        clients.removeAll { client in client == owner }
        if elements[owner]?.isEmpty == true {
            elements[owner] = nil
        } else if owner != .person {
            clients.append(owner)
        }
        return element
    }
}
