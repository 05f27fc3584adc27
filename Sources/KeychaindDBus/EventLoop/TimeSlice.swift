/// The time that a long call takes before others are handled; checked between its parts.
@BusActor
package struct TimeSlice {
    private let length: Duration
    private var end: Int64

    package init(_ length: Duration) {
        self.init(length, until: LoopClock.suspending.instant(after: length))
    }

    private init(_ length: Duration, until end: Int64) {
        self.length = length
        self.end = end
    }

    /// A slice that is never over, for what must be done in one go.
    package static var endless: TimeSlice { TimeSlice(.zero, until: .max) }

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
