/// Names an action that was scheduled on the ``EventLoop``.
package struct Timer: Hashable, Sendable {
    let deadline: ContinuousClock.Instant
    let number: UInt64
}
