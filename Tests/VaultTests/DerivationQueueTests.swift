import KeychaindVault
import Testing

@Suite struct DerivationQueueTests {
    private final class Client {}

    private let first = Client()
    private let second = Client()

    private func owner(_ client: Client) -> DerivationOwner { .client(ObjectIdentifier(client)) }

    private func drain(_ queue: inout DerivationQueue<String>) -> [String] {
        var elements: [String] = []
        while let element = queue.takeNext() { elements.append(element) }
        return elements
    }

    @Test func takeNext_severalClients_alternates() {
        var queue = DerivationQueue<String>()
        for number in 1...3 { queue.add("a\(number)", for: owner(first)) }
        queue.add("b1", for: owner(second))
        queue.add("b2", for: owner(second))
        #expect(drain(&queue) == ["a1", "b1", "a2", "b2", "a3"])
    }

    @Test func takeNext_person_isFirst_butNotTwiceInARow() {
        var queue = DerivationQueue<String>()
        for number in 1...2 { queue.add("a\(number)", for: owner(first)) }
        for number in 1...4 { queue.add("p\(number)", for: .person) }
        #expect(drain(&queue) == ["p1", "a1", "p2", "a2", "p3", "p4"])
    }

    @Test func takeNext_clientThatWasServed_comesBehindOthers() {
        var queue = DerivationQueue<String>()
        queue.add("a1", for: owner(first))
        queue.add("a2", for: owner(first))
        #expect(queue.takeNext() == "a1")
        queue.add("b1", for: owner(second))
        queue.add("p1", for: .person)
        #expect(drain(&queue) == ["p1", "a2", "b1"])
    }
}
