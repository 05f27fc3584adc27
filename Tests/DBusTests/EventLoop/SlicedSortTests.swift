import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct SlicedSortTests {
    @Test("A sort lets others in between, and keeps the order of equal elements", arguments: [0, 1, 31, 33, 1000])
    @BusActor
    func sort_letsOthersInBetween_andIsStable(count: Int) async {
        let keys = (0..<count).map { $0 * 7919 % 101 }
        let other = Task.immediate(executorPreference: BusActor.loop) { @BusActor in
            var turns = 0
            while !Task.isCancelled {
                turns += 1
                await Task.yield()
            }
            return turns
        }
        var numbers = Array(0..<count)
        var slice = TimeSlice(.zero)
        await numbers.sort(&slice) { keys[$0] < keys[$1] }
        other.cancel()
        #expect(numbers == (0..<count).sorted { (keys[$0], $0) < (keys[$1], $1) })
        #expect(await other.value >= count / 32)
    }
}
