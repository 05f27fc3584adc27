import Glibc

/// The time since the machine was started, which nobody can set, and which goes on while the machine sleeps.
///
/// Grants end and delays run by it: by the wall clock, setting that would end a delay or keep a grant alive; by a clock
/// that stops during sleep, a grant would outlast a night.
package struct BootClock: Sendable {
    /// Which boot it is: another one after each start of the machine; empty if it cannot be told.
    package let bootID: String

    private let read: @Sendable () -> Duration

    /// Takes another source of time, for tests.
    package init(bootID: String, now read: @escaping @Sendable () -> Duration) {
        self.bootID = bootID
        self.read = read
    }

    /// The time since the start.
    package var now: Duration { read() }

    /// The kernel's clock.
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
