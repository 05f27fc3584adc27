package import DBus

/// Calls something later, unless it is called off: the event loop's timers, or a test's.
package struct Scheduler: Sendable {
    /// Calls the action off.
    package typealias Cancellation = @BusActor () -> Void

    private let body: @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation

    /// Takes another source of timers.
    package init(_ body: @escaping @BusActor (Duration, @escaping @BusActor () -> Void) -> Cancellation) {
        self.body = body
    }

    /// Calls the action after a time.
    @BusActor
    package func schedule(after delay: Duration, _ action: @escaping @BusActor () -> Void) -> Cancellation {
        body(delay, action)
    }

    /// The timers of an event loop.
    package static func timers(of loop: EventLoop) -> Scheduler {
        Scheduler { delay, action in
            let timer = loop.schedule(after: delay, action)
            return { loop.cancel(timer) }
        }
    }
}
