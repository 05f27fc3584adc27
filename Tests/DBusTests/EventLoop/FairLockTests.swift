import DBus
import TestSupport
import Testing

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
        #expect(!lock.unlock())
        #expect(await lock.lock(for: "b") == .acquired)
    }

    @Test
    @BusActor
    func lock_held_waitsForTheUnlock() async {
        let holders = Holders()
        _ = await holders.lock.lock(for: "a")
        holders.add("second", of: "a")
        #expect(holders.names == [])
        #expect(holders.lock.unlock())
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

    @Test
    @BusActor
    func cancelWaiters_endsTheWaitsOfOneOwner() async {
        let holders = Holders()
        _ = await holders.lock.lock(for: "a")
        for owner in ["a", "b", "a"] { holders.add(owner, of: owner) }
        holders.lock.cancelWaiters(of: "a")
        holders.lock.unlock()
        #expect(await holders.outcomes() == [.cancelled, .acquired, .cancelled])
        #expect(holders.names == ["b"])
    }

    @Test
    @BusActor
    func cancelWaiters_lockAlreadyHandedOver_keepsTheLock() async {
        let holders = Holders()
        _ = await holders.lock.lock(for: "a")
        holders.add("next", of: "b")
        holders.lock.unlock()
        holders.lock.cancelWaiters(of: "b")
        #expect(await holders.outcomes() == [.acquired])
    }
}
