/// Names an action that was scheduled on the ``EventLoop``.
package struct Timer: Hashable, Sendable {
    let clock: LoopClock
    /// On that clock.
    let deadline: Int64
    let number: UInt64
}
