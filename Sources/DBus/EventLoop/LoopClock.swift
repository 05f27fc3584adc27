import CLinux
import Glibc

/// A clock of timers: nanoseconds since the system was started.
///
/// They are those of `ContinuousClock` and `SuspendingClock`, whose instants count in 128 bits: to compare and divide them took as long
/// as anything else that a turn of the loop does.
enum LoopClock {
    /// Goes on while the system sleeps.
    case continuous
    /// Stands still while the system sleeps: for waiting for somebody who sleeps as well.
    case suspending

    /// What the clock shows.
    var now: Int64 {
        var time = timespec()
        switch self {
        case .continuous: clock_gettime(CLOCK_BOOTTIME, &time)
        case .suspending: clock_gettime(CLOCK_MONOTONIC, &time)
        }
        return Int64(time.tv_sec) * LoopClock.nanosecondsPerSecond + Int64(time.tv_nsec)
    }

    /// What the clock will show after a time; the end of time for what is beyond.
    func instant(after delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: LoopClock.nanosecondsPerSecond)
        guard !isBeyond else { return seconds < 0 ? now : .max }
        // Rounded up: what is due is due no sooner than was asked for.
        let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
        let (sum, overflow) = now.addingReportingOverflow(whole)
        let (instant, isLater) = sum.addingReportingOverflow(nanoseconds)
        return overflow || isLater ? .max : instant
    }

    /// Whole milliseconds until an instant, rounded up, from zero to about 24 days: what epoll takes.
    func milliseconds(until instant: Int64) -> Int32 {
        let rest = instant.subtractingReportingOverflow(now)
        guard !rest.overflow, rest.partialValue > 0 else { return 0 }
        return Int32(clamping: (rest.partialValue - 1) / 1_000_000 + 1)
    }

    private static let nanosecondsPerSecond: Int64 = 1_000_000_000
}
