import KeychaindAuthentication
import KeychaindTestSupport
import Testing

struct GrantTableTests {
    /// A stand-in for a key that wipes itself.
    private final class Key {
        let name: String

        init(_ name: String) {
            self.name = name
        }
    }

    private typealias Table = GrantTable<Int, Key>

    @Test
    func grant_isForItsObjectAlone() {
        var table = Table()
        table.grant(1, key: Key("a"), reuse: .standard, at: .zero)
        #expect(table.isGranted(1, at: .zero))
        #expect(!table.isGranted(2, at: .zero))
        #expect(table.use(2, at: .zero) == nil)
        #expect(table.use(1, at: .zero)?.name == "a")
    }

    @Test
    func use_withinTheTime_again_afterIt_notAnyMore() {
        var table = Table()
        table.grant(1, key: Key("a"), reuse: GrantReuse(.seconds(10)), at: .seconds(100))
        for time in [100, 105, 109] {
            #expect(table.use(1, at: .seconds(time)) != nil)
        }
        #expect(table.use(1, at: .seconds(110)) == nil)
        #expect(!table.isGranted(1, at: .seconds(110)))
        #expect(table.key(of: 1, at: .seconds(110)) == nil)
    }

    @Test
    func use_singleRelease_once() {
        var table = Table()
        table.grant(1, key: Key("a"), reuse: .single, at: .zero)
        // Reading a grant does not use it.
        #expect(table.isGranted(1, at: .zero))
        #expect(table.key(of: 1, at: .zero) != nil)
        #expect(table.use(1, at: .zero) != nil)
        #expect(table.use(1, at: .zero) == nil)
        #expect(table.isEmpty)
    }

    @Test
    func use_singleRelease_doesNotWaitForEver() {
        var table = Table()
        table.grant(1, key: Key("a"), reuse: .single, at: .zero)
        #expect(table.use(1, at: GrantReuse.singleReleaseTime) == nil)
    }

    @Test(
        arguments: [
            (-1, true, 10), (0, true, 10), (1, false, 1), (10, false, 10), (300, false, 300), (301, false, 300),
            (Int64.max, false, 300),
        ]
    )
    func reuse_duration_isBounded(seconds: Int64, isSingle: Bool, lifetime: Int64) {
        #expect(GrantReuse(.seconds(seconds)).isSingle == isSingle)
        #expect(GrantReuse(.seconds(seconds)).lifetime == .seconds(lifetime))
        #expect(GrantReuse.standard == GrantReuse(.seconds(10)))
    }

    @Test
    func grant_again_replaces() {
        var table = Table()
        table.grant(1, key: Key("a"), reuse: GrantReuse(.seconds(300)), at: .zero)
        table.grant(1, key: Key("b"), reuse: .single, at: .seconds(1))
        #expect(table.use(1, at: .seconds(1))?.name == "b")
        #expect(table.isEmpty)
    }

    @Test
    func key_lastGrantGone_isReleased() {
        var table = Table()
        weak var released: Key?
        do {
            let key = Key("a")
            released = key
            table.grant(1, key: key, reuse: .standard, at: .zero)
        }
        #expect(released != nil)
        _ = table.removeExpired(at: .seconds(10))
        #expect(released == nil)
    }

    private func filled() -> Table {
        var table = Table()
        for object in 1...3 {
            table.grant(object, key: Key("\(object)"), reuse: GrantReuse(.seconds(object * 10)), at: .zero)
        }
        return table
    }

    @Test
    func removeAll_some_leavesTheOthers() {
        var table = filled()
        #expect(Set(table.removeAll { $0 >= 2 }) == [2, 3])
        #expect(table.removeAll { $0 >= 2 }.isEmpty)
        #expect(table.isGranted(1, at: .zero))
    }

    @Test
    func removeAll_everything_leavesNothing() {
        var table = filled()
        #expect(table.removeAll().count == 3)
        #expect(table.isEmpty)
        #expect(table.nextDeadline == nil)
    }

    @Test
    func removeExpired_atEachDeadline_removesThatFar() {
        var table = filled()
        #expect(table.nextDeadline == .seconds(10))
        #expect(table.removeExpired(at: .seconds(9)).isEmpty)
        #expect(table.removeExpired(at: .seconds(10)) == [1])
        #expect(table.nextDeadline == .seconds(20))
        #expect(table.removeExpired(at: .seconds(1000)).count == 2)
        #expect(table.isEmpty)
    }

    @Test
    func remove_theEarliest_leavesTheNext() {
        var table = filled()
        let areRemoved = [table.remove(1), table.remove(1)]
        #expect(areRemoved == [true, false])
        #expect(table.nextDeadline == .seconds(20))
    }

    @Test
    func table_randomHistory_agreesWithAList() {
        struct Entry {
            let object: Int
            let end: Int
            let isSingle: Bool
        }
        var generator = SeededGenerator(seed: 11)
        var table = GrantTable<Int, Int>()
        var list: [Entry] = []
        var now = 0
        for _ in 0..<20_000 {
            let object = Int.random(in: 0..<20, using: &generator)
            switch Int.random(in: 0..<9, using: &generator) {
            case 0, 1:
                let seconds = Int.random(in: -1...400, using: &generator)
                table.grant(object, key: object, reuse: GrantReuse(.seconds(seconds)), at: .seconds(now))
                list.removeAll { $0.object == object }
                let end = now + (seconds <= 0 ? 10 : min(seconds, 300))
                list.append(Entry(object: object, end: end, isSingle: seconds <= 0))
            case 2:
                now += Int.random(in: 0..<50, using: &generator)
            case 3 where Int.random(in: 0..<10, using: &generator) == 0:
                table.removeAll()
                list.removeAll()
            case 4 where Int.random(in: 0..<10, using: &generator) == 0:
                table.removeAll { $0 == object }
                list.removeAll { $0.object == object }
            case 5:
                let removed = table.removeExpired(at: .seconds(now))
                let ends = removed.compactMap { object in list.first { $0.object == object }?.end }
                #expect(ends == list.map(\.end).filter { $0 <= now }.sorted())
                list.removeAll { removed.contains($0.object) }
            case 6:
                let isRemoved = table.remove(object)
                #expect(isRemoved == list.contains { $0.object == object })
                list.removeAll { $0.object == object }
            default:
                let entry = list.first { $0.object == object && now < $0.end }
                #expect(table.isGranted(object, at: .seconds(now)) == (entry != nil))
                #expect((table.use(object, at: .seconds(now)) != nil) == (entry != nil))
                if let entry, entry.isSingle {
                    list.removeAll { $0.object == object }
                }
            }
            #expect(table.nextDeadline == list.map { Duration.seconds($0.end) }.min())
        }
    }
}
