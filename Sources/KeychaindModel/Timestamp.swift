import Glibc

/// A wall-clock time in microseconds since 1970-01-01 00:00 UTC.
package struct Timestamp: Comparable, Hashable, Sendable {
    /// Negative before the epoch.
    package var microsecondsSinceEpoch: Int64

    package init(microsecondsSinceEpoch: Int64) {
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
    }

    /// Creates a time of whole seconds since the epoch; one beyond the range becomes the last.
    package init(seconds: UInt64) {
        let (microseconds, isTooLarge) = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
        microsecondsSinceEpoch = isTooLarge ? .max : microseconds
    }

    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microsecondsSinceEpoch: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }

    /// Whole seconds since the epoch, the unit of the Secret Service (#88, #103); zero before the epoch.
    package var seconds: UInt64 {
        UInt64(max(0, microsecondsSinceEpoch) / 1_000_000)
    }

    /// Microseconds since the epoch, the unit of keychaind's own interfaces; zero before the epoch.
    package var microseconds: UInt64 { UInt64(max(0, microsecondsSinceEpoch)) }

    package static func < (first: Timestamp, second: Timestamp) -> Bool {
        first.microsecondsSinceEpoch < second.microsecondsSinceEpoch
    }
}
