/// An object that was found at a path, together with what it can do.
@BusActor
package protocol ObjectTarget {
    /// Answers the call; returns the task's body if it has to wait.
    func dispatch(_ call: MethodCall) -> Dispatch
}

/// What became of a call.
package enum Dispatch {
    case answered
    /// To be run to its end, after which the call is answered.
    case suspending(@BusActor () async -> Void)
}
