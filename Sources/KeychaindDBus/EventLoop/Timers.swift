import CKeychaindLinux
import Glibc

/// Scheduled actions, soonest first.
///
/// A sorted array: the daemon has a handful of timers and cancels most before they are due.
struct TimerQueue {
    typealias Action = @BusActor () -> Void

    let clock: LoopClock
    private var entries: [(timer: Timer, action: Action)] = []
    private var count: UInt64 = 0

    init(_ clock: LoopClock) {
        self.clock = clock
    }

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

    /// Removes and returns the first action if it is due; one at a time, because running it may cancel others.
    mutating func removeFirst(dueAt instant: Int64) -> Action? {
        guard let first = entries.first, first.timer.deadline <= instant else { return nil }
        return entries.removeFirst().action
    }
}

package struct Timer: Hashable, Sendable {
    let clock: LoopClock
    let deadline: Int64
    let number: UInt64
}

/// A clock of timers, in nanoseconds since boot.
///
/// The same clocks as `ContinuousClock` and `SuspendingClock`, whose 128-bit instants cost as much as the rest of a
/// turn.
enum LoopClock {
    /// Runs while the system sleeps.
    case continuous
    /// Stops while the system sleeps, as the programs that are waited for do.
    case suspending

    var now: Int64 {
        var time = timespec()
        switch self {
        case .continuous: clock_gettime(CLOCK_BOOTTIME, &time)
        case .suspending: clock_gettime(CLOCK_MONOTONIC, &time)
        }
        return Int64(time.tv_sec) * LoopClock.nanosecondsPerSecond + Int64(time.tv_nsec)
    }

    /// The instant after a delay, clamped to `Int64.max`.
    func instant(after delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: LoopClock.nanosecondsPerSecond)
        guard !isBeyond else { return seconds < 0 ? now : .max }
        // Rounded up, so that no timer fires early.
        let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
        let (sum, overflow) = now.addingReportingOverflow(whole)
        let (instant, isLater) = sum.addingReportingOverflow(nanoseconds)
        return overflow || isLater ? .max : instant
    }

    /// Whole milliseconds until an instant for epoll: rounded up, from zero to about 24 days.
    func milliseconds(until instant: Int64) -> Int32 {
        let rest = instant.subtractingReportingOverflow(now)
        guard !rest.overflow, rest.partialValue > 0 else { return 0 }
        return Int32(clamping: (rest.partialValue - 1) / 1_000_000 + 1)
    }

    private static let nanosecondsPerSecond: Int64 = 1_000_000_000
}
