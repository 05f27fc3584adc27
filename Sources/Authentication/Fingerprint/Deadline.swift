/// When several steps have to be done together, on the monotonic clock.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    /// A time from now on.
    package init(after time: Duration) {
        instant = .now + time
    }

    /// What is left; zero when it has passed.
    package var rest: Duration {
        max(.zero, ContinuousClock.now.duration(to: instant))
    }
}
