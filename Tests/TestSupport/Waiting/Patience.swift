/// How long tests wait for what should happen.
package enum Patience {
    /// The limit of every wait that has none of its own.
    ///
    /// It only bounds a test that fails, and so it is longer than a machine with too much to do may stall.
    package static let limit = Duration.seconds(120)

    /// Times, each twice the one before, for a test in which something has to have begun when the time is up.
    package static let growing = (0..<12).map { Duration.milliseconds(50 << $0) }
}
