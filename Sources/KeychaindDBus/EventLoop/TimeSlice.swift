/// The time that a long call takes before others are handled; checked between its parts.
@BusActor
package struct TimeSlice {
    private let length: Duration
    private var end: Int64

    package init(_ length: Duration) {
        self.length = length
        end = LoopClock.suspending.instant(after: length)
    }

    /// Lets the loop take a turn if the time is over, and begins another slice.
    package mutating func yieldIfOver() async {
        guard LoopClock.suspending.now >= end else { return }
        await Task.yield()
        end = LoopClock.suspending.instant(after: length)
    }
}
