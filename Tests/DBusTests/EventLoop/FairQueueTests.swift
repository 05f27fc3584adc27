import DBus
import Testing

struct FairQueueTests {
    private typealias Queue = FairQueue<String, Int>

    private func drain(_ queue: inout Queue) -> [Int] {
        var elements: [Int] = []
        while let element = queue.takeNext() { elements.append(element) }
        return elements
    }

    private func wasRefused(_ insertion: Queue.Insertion) -> Bool {
        if case .refused = insertion { true } else { false }
    }

    @Test
    func takeNext_oneOwner_isInOrder() {
        var queue = Queue(limit: 10)
        for element in 1...5 { _ = queue.insert(element, of: "a") }
        #expect(drain(&queue) == [1, 2, 3, 4, 5])
        #expect(queue.takeNext() == nil)
        #expect(queue.count == 0)
    }

    @Test
    func takeNext_severalOwners_takeTurns() {
        var queue = Queue(limit: 20_000)
        for element in 0..<10_000 { _ = queue.insert(element, of: "greedy") }
        _ = queue.insert(-1, of: "modest")
        _ = queue.insert(-2, of: "other")
        _ = queue.insert(-3, of: "modest")
        #expect((0..<6).map { _ in queue.takeNext() } == [0, -1, -2, 1, -3, 2])
    }

    @Test
    func takeNext_ownerComesBack_isAfterThoseWhoWait() {
        var queue = Queue(limit: 10)
        _ = queue.insert(1, of: "a")
        _ = queue.insert(2, of: "b")
        #expect(queue.takeNext() == 1)
        _ = queue.insert(3, of: "a")
        #expect(drain(&queue) == [2, 3])
    }

    @Test
    func insert_fullByOne_othersStillGetIn() {
        var queue = Queue(limit: 3)
        for element in 1...3 { _ = queue.insert(element, of: "greedy") }
        #expect(wasRefused(queue.insert(4, of: "greedy")))
        guard case .addedInPlace(3) = queue.insert(10, of: "modest") else {
            Issue.record("the last of the greedy one has to go")
            return
        }
        // Now nobody has more than one more than the others.
        #expect(wasRefused(queue.insert(11, of: "modest")))
        #expect(queue.count == 3)
        #expect(drain(&queue) == [1, 10, 2])
    }

    @Test
    func insert_fullOfEquals_isRefused() {
        var queue = Queue(limit: 2)
        _ = queue.insert(1, of: "a")
        _ = queue.insert(2, of: "b")
        #expect(wasRefused(queue.insert(3, of: "c")))
        var none = Queue(limit: 0)
        #expect(wasRefused(none.insert(1, of: "a")))
    }

    @Test
    func removeAll_ofAnOwner_givesWhatItHadInOrder() {
        var queue = Queue(limit: 10)
        for element in 1...4 { _ = queue.insert(element, of: "a") }
        _ = queue.insert(5, of: "b")
        #expect(queue.takeNext() == 1)
        #expect(queue.count(of: "a") == 3 && queue.count(of: "b") == 1 && queue.count(of: "c") == 0)
        #expect(queue.removeAll(of: "a") == [2, 3, 4])
        #expect(queue.removeAll(of: "a") == [])
        #expect(queue.count == 1 && queue.count(of: "a") == 0)
        #expect(drain(&queue) == [5])
    }

    @Test
    func remove_anywhere_leavesTheRestInOrder() {
        var queue = Queue(limit: 10)
        for element in 1...3 { _ = queue.insert(element, of: "a") }
        _ = queue.insert(4, of: "b")
        queue.remove(2, of: "a")
        queue.remove(4, of: "b")
        queue.remove(9, of: "a")
        queue.remove(1, of: "c")
        #expect(queue.count == 2)
        #expect(drain(&queue) == [1, 3])
    }
}
