import KeychainModel
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [(0, 0), (999_999, 0), (1_000_000, 1), (1_700_000_000_123_456, 1_700_000_000), (-5_000_000, 0)])
    func seconds_roundsDown_neverNegative(microseconds: Int64, seconds: UInt64) {
        #expect(Timestamp(microsecondsSinceEpoch: microseconds).seconds == seconds)
    }

    @Test func now_twice_doesNotGoBackFarInTime() {
        #expect(Timestamp.now().seconds > 1_700_000_000)
    }

    @Test func order_isThatOfTime() {
        #expect(Timestamp(microsecondsSinceEpoch: -1) < Timestamp(microsecondsSinceEpoch: 0))
    }
}
