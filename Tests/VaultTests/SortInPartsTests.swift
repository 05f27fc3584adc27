import KeychaindVault
import Testing

/// Sorting that lets others in between.
struct SortInPartsTests {
    private static func keys(_ count: Int) -> [Int] { (0..<count).map { $0 * 7919 % 101 } }

    @Test(
        "a sort has a pause after each few elements, and keeps the order of equal ones",
        arguments: [0, 1, 31, 33, 1000]
    )
    func sort_pauses_andIsStable(count: Int) async {
        let keys = Self.keys(count)
        var numbers = Array(0..<count)
        var pauses = 0
        let isSorted = await numbers.sort(
            pausing: {
                pauses += 1
                return true
            },
            by: { keys[$0] < keys[$1] }
        )
        #expect(isSorted)
        #expect(numbers == (0..<count).sorted { (keys[$0], $0) < (keys[$1], $1) })
        #expect(pauses >= count / 32)
    }

    @Test("a pause can end the sort, whose elements are all there then", arguments: [1, 20, 50])
    func sort_isEndedByAPause(pause: Int) async {
        let keys = Self.keys(1000)
        var numbers = Array(0..<1000)
        var pauses = 0
        let isSorted = await numbers.sort(
            pausing: {
                pauses += 1
                return pauses < pause
            },
            by: { keys[$0] < keys[$1] }
        )
        #expect(!isSorted && pauses == pause)
        #expect(numbers.sorted() == Array(0..<1000))
    }
}
