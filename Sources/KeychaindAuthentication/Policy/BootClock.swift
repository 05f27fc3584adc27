import Glibc
import KeychaindFiles

/// A clock that counts from boot, includes sleep, and cannot be set.
///
/// Setting the wall clock would cut a lockout delay or extend a grant. A clock that stops during sleep would keep a
/// grant alive overnight.
package struct BootClock: Sendable {
    /// The kernel's boot ID; empty if unreadable.
    package let bootID: String

    private let read: @Sendable () -> Duration

    package init(bootID: String, now read: @escaping @Sendable () -> Duration) {
        self.bootID = bootID
        self.read = read
    }

    package var now: Duration { read() }

    package static let system = BootClock(bootID: readBootID()) {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    private static func readBootID() -> String {
        let bytes = try? RegularFile("/proc/sys/kernel/random/boot_id").read(most: 64)
        return String(decoding: (bytes ?? []).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
