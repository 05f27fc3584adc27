/// The actions that wait for their time, soonest first.
///
/// A sorted array: a daemon has a handful of timers, and most are cancelled before they are due.
struct TimerQueue {
    typealias Action = @BusActor () -> Void

    let clock: LoopClock
    private var entries: [(timer: Timer, action: Action)] = []
    private var count: UInt64 = 0

    init(_ clock: LoopClock) {
        self.clock = clock
    }

    /// When the soonest action is due, on the clock.
    var nextDeadline: Int64? { entries.first?.timer.deadline }

    mutating func insert(after delay: Duration, _ action: @escaping Action) -> Timer {
        count += 1
        let deadline = clock.instant(after: delay)
        let timer = Timer(clock: clock, deadline: deadline, number: count)
        let index = entries.firstIndex { $0.timer.deadline > deadline } ?? entries.endIndex
        entries.insert((timer, action), at: index)
        return timer
    }

    mutating func remove(_ timer: Timer) {
        entries.removeAll { $0.timer == timer }
    }

    /// Takes out the soonest action, if it is due: one at a time, because it may remove others that are due as well.
    mutating func removeFirst(dueAt instant: Int64) -> Action? {
        guard let first = entries.first, first.timer.deadline <= instant else { return nil }
        return entries.removeFirst().action
    }
}
