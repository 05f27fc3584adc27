/// An object that was found at a path, together with what it can do.
@BusActor
package protocol ObjectTarget {
    /// Answers the call, or tells how it will be answered; throws what the caller is told if it has failed.
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch
}

/// What became of a call.
package enum Dispatch {
    case answered
    /// To be run to its end, after which the call is answered.
    case suspending(@BusActor () async throws(BusError) -> Void)
}
