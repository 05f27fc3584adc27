import KeychaindVault
import Testing

@Suite struct WorkQueueTests {
    private final class Client: WorkProgram {}

    private let first = Client()
    private let second = Client()

    private func owner(_ client: Client) -> WorkOwner { .program(client) }

    private func drain(_ queue: inout WorkQueue<String>) -> [String] {
        var elements: [String] = []
        while let element = queue.takeNext() { elements.append(element) }
        return elements
    }

    @Test func takeNext_severalClients_alternates() {
        var queue = WorkQueue<String>()
        for number in 1...3 { queue.add("a\(number)", for: owner(first)) }
        queue.add("b1", for: owner(second))
        queue.add("b2", for: owner(second))
        #expect(drain(&queue) == ["a1", "b1", "a2", "b2", "a3"])
    }

    @Test func takeNext_person_isFirst_butNotTwiceInARow() {
        var queue = WorkQueue<String>()
        for number in 1...2 { queue.add("a\(number)", for: owner(first)) }
        for number in 1...4 { queue.add("p\(number)", for: .person) }
        #expect(drain(&queue) == ["p1", "a1", "p2", "a2", "p3", "p4"])
    }

    @Test func takeNext_clientThatWasServed_comesBehindOthers() {
        var queue = WorkQueue<String>()
        queue.add("a1", for: owner(first))
        queue.add("a2", for: owner(first))
        #expect(queue.takeNext() == "a1")
        queue.add("b1", for: owner(second))
        queue.add("p1", for: .person)
        #expect(drain(&queue) == ["p1", "a2", "b1"])
    }

    @Test func takeAll_refusedElement_holdsUpItsOwnerOnly() {
        var queue = WorkQueue<String>()
        for element in ["a1", "a2", "a3"] { queue.add(element, for: owner(first)) }
        for element in ["b1", "b2"] { queue.add(element, for: owner(second)) }
        for element in ["p1", "p2"] { queue.add(element, for: .person) }
        var taken: [String] = []
        queue.takeAll { element in
            guard element != "a2", element != "p2" else { return false }
            taken.append(element)
            return true
        }
        #expect(taken == ["p1", "a1", "b1", "b2"])
        #expect(drain(&queue) == ["p2", "a2", "a3"])
    }
}
