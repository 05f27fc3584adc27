/// The time that a long call takes before others are handled; checked between its parts.
@BusActor
package struct TimeSlice {
    private let length: Duration
    private var end: Int64

    package init(_ length: Duration) {
        self.length = length
        end = LoopClock.suspending.instant(after: length)
    }

    /// Lets others in between if the time is over, and begins another slice.
    package mutating func yieldIfOver() async {
        if LoopClock.suspending.now >= end { await yield() }
    }

    /// Lets the loop read and handle what has arrived, and begins another slice.
    package mutating func yield() async {
        // The loop reads at the end of one turn, and handles at the end of the next.
        await Task.yield()
        await Task.yield()
        end = LoopClock.suspending.instant(after: length)
    }
}
