import Glibc

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
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "" }
        return String(decoding: bytes.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
