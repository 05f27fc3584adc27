/// Names an action that was scheduled on the ``EventLoop``.
package struct Timer: Hashable, Sendable {
    /// On the ``LoopClock``.
    let deadline: Int64
    let number: UInt64
}
