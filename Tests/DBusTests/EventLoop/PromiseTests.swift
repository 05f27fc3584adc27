import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite(.onLoop)
struct PromiseTests {
    @Test
    @BusActor
    func fulfill_resumesEveryWaiter() async {
        let promise = Promise<Int>()
        let waiters = (0..<3).map { _ in Task.immediate { @BusActor in await promise.value() } }
        #expect(!promise.isFulfilled)
        promise.fulfill(42)
        for waiter in waiters { #expect(await waiter.value == 42) }
        #expect(promise.isFulfilled)
    }

    @Test
    @BusActor
    func fulfill_twice_firstValueWins() async {
        let promise = Promise<Int>()
        #expect(promise.fulfill(1))
        #expect(!promise.fulfill(2))
        #expect(await promise.value() == 1)
    }

    @Test
    @BusActor
    func wait_fulfilled_returnsAtOnce() async {
        let promise = Promise<Void>()
        promise.fulfill()
        await promise.wait()
        #expect(await promise.wait(within: .zero))
    }

    @Test
    @BusActor
    func onFulfillment_runsOnceBeforeOrAfter() {
        let promise = Promise<Int>()
        var values: [Int] = []
        promise.onFulfillment { values.append($0) }
        promise.fulfill(1)
        promise.fulfill(2)
        promise.onFulfillment { values.append(10 * $0) }
        #expect(values == [1, 10])
    }

    @Test
    @BusActor
    func onFulfillment_handlerFulfillsAgain_isIgnored() {
        let promise = Promise<Int>()
        var results: [Bool] = []
        promise.onFulfillment { _ in results.append(promise.fulfill(2)) }
        promise.fulfill(1)
        #expect(results == [false])
    }

    @Test
    @BusActor
    func valueWithin_neverFulfilled_isNil() async {
        let promise = Promise<Int>()
        #expect(await promise.value(within: .milliseconds(1)) == nil)
        promise.fulfill(1)
        #expect(await promise.value(within: .zero) == 1)
    }

    @Test
    @BusActor
    func valueWithin_fulfilledInTime_isTheValue() async {
        let promise = Promise<Int>()
        let waiter = Task.immediate { @BusActor in await promise.value(within: Patience.limit) }
        promise.fulfill(1)
        #expect(await waiter.value == 1)
    }
}
