import KeychaindDBus
import KeychaindTestSupport
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
    func takeNext_severalOwners_alternates() {
        var queue = Queue(limit: 20_000)
        for element in 0..<10_000 { _ = queue.insert(element, of: "greedy") }
        _ = queue.insert(-1, of: "modest")
        _ = queue.insert(-2, of: "other")
        _ = queue.insert(-3, of: "modest")
        #expect((0..<6).map { _ in queue.takeNext() } == [0, -1, -2, 1, -3, 2])
    }

    @Test
    func takeNext_returningOwner_isLast() {
        var queue = Queue(limit: 10)
        _ = queue.insert(1, of: "a")
        _ = queue.insert(2, of: "b")
        #expect(queue.takeNext() == 1)
        _ = queue.insert(3, of: "a")
        #expect(drain(&queue) == [2, 3])
    }

    @Test
    func insert_fullOfOneOwner_makesRoomForOthers() {
        var queue = Queue(limit: 3)
        for element in 1...3 { _ = queue.insert(element, of: "greedy") }
        #expect(wasRefused(queue.insert(4, of: "greedy")))
        guard case .addedInPlace(3) = queue.insert(10, of: "modest") else {
            Issue.record("the last of the greedy one has to go")
            return
        }
        // Every owner has at most one more than the others.
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
    func remove_anywhere_keepsOrder() {
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

@Suite(.onLoop)
struct FairLockTests {
    private typealias Lock = FairLock<String>

    /// Tasks that record their names while they hold the lock.
    @BusActor
    private final class Holders {
        let lock: Lock
        private(set) var names: [String] = []
        private var tasks: [Task<Lock.Outcome, Never>] = []

        init(_ lock: Lock = Lock()) {
            self.lock = lock
        }

        func add(_ name: String, of owner: String) {
            tasks.append(
                Task.immediate { @BusActor in
                    let outcome = await lock.lock(for: owner)
                    if case .acquired = outcome {
                        names.append(name)
                        lock.unlock()
                    }
                    return outcome
                }
            )
        }

        func outcomes() async -> [Lock.Outcome] {
            var outcomes: [Lock.Outcome] = []
            for task in tasks { outcomes.append(await task.value) }
            return outcomes
        }
    }

    @Test
    @BusActor
    func lock_free_isAcquiredAtOnce() async {
        let lock = Lock()
        #expect(await lock.lock(for: "a") == .acquired)
        lock.unlock()
        #expect(await lock.lock(for: "b") == .acquired)
    }

    @Test
    @BusActor
    func lock_held_waitsForTheUnlock() async {
        let holders = Holders()
        _ = await holders.lock.lock(for: "a")
        holders.add("second", of: "a")
        #expect(holders.names == [])
        holders.lock.unlock()
        #expect(await holders.outcomes() == [.acquired])
        #expect(holders.names == ["second"])
    }

    @Test
    @BusActor
    func unlock_severalOwners_alternates() async {
        let holders = Holders()
        _ = await holders.lock.lock(for: "a")
        for number in 1...3 { holders.add("a\(number)", of: "a") }
        holders.add("b1", of: "b")
        holders.add("c1", of: "c")
        holders.add("b2", of: "b")
        holders.lock.unlock()
        _ = await holders.outcomes()
        #expect(holders.names == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test
    @BusActor
    func lock_ownerAtTheLimit_isRefused() async {
        let holders = Holders(Lock(waitersPerOwner: 2))
        _ = await holders.lock.lock(for: "a")
        for number in 1...3 { holders.add("a\(number)", of: "a") }
        holders.add("b1", of: "b")
        holders.lock.unlock()
        #expect(await holders.outcomes() == [.acquired, .acquired, .refused, .acquired])
    }
}
