/// The owner of a key derivation or a change.
package enum WorkOwner: Sendable {
    /// A person who waits at a login or at a dialog.
    case person
    /// The program whose call needs the work.
    case program(any WorkProgram)

    /// The owner of the present task's work.
    @TaskLocal package static var current = WorkOwner.person

    /// The same, once it is known which program it is.
    var known: WorkOwner {
        get async {
            switch self {
            case .person: self
            case .program(let program): .program(await program.known())
            }
        }
    }
}

/// A program that work is counted for; each is equal to itself alone.
package protocol WorkProgram: AnyObject, Sendable {
    /// The same, once it is known which program it is.
    func known() async -> any WorkProgram
}

extension WorkProgram {
    package func known() async -> any WorkProgram { self }
}

extension WorkOwner: Hashable {
    private var identifier: ObjectIdentifier? {
        switch self {
        case .person: nil
        case .program(let program): ObjectIdentifier(program)
        }
    }

    package static func == (left: WorkOwner, right: WorkOwner) -> Bool { left.identifier == right.identifier }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
    }
}

/// Waiting work, round-robin by program, and in order of arrival for each owner.
///
/// A person is served first, but not twice in a row while a program waits: neither can starve the other.
package struct WorkQueue<Element> {
    private var elements: [WorkOwner: [Element]] = [:]
    /// The programs with elements; the next first.
    private var programs: [WorkOwner] = []
    private var lastOwner: WorkOwner?

    package init() {}

    package mutating func add(_ element: Element, for owner: WorkOwner) {
        if owner != .person, elements[owner] == nil { programs.append(owner) }
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
        let program = programs.first { program in !passed.contains(program) }
        guard elements[.person] != nil, !passed.contains(.person) else { return program }
        return lastOwner == .person ? program ?? .person : .person
    }

    private mutating func takeFirst(of owner: WorkOwner) -> Element? {
        let element = elements[owner]?.removeFirst()
        lastOwner = owner
        programs.removeAll { program in program == owner }
        if elements[owner]?.isEmpty == true {
            elements[owner] = nil
        } else if owner != .person {
            programs.append(owner)
        }
        return element
    }
}
