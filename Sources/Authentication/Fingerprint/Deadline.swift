/// When several steps have to be done together, on the monotonic clock.
struct Deadline {
    private let instant: ContinuousClock.Instant

    /// A time from now on.
    init(after time: Duration) {
        instant = .now + time
    }

    /// What is left; zero when it has passed.
    var rest: Duration {
        max(.zero, ContinuousClock.now.duration(to: instant))
    }
}
