import CKeychaindLinux
import Glibc

/// What the loop waits for.
@BusActor
extension EventLoop {
    package func watchReadable(_ descriptor: Int32, handler: @escaping @BusActor () -> Void) {
        watch(descriptor, for: keychaind_epoll_in) { _ in handler() }
    }

    /// Calls the handler whenever the descriptor has one of the events; replaces an earlier handler of the descriptor.
    func watch(_ descriptor: Int32, for events: UInt32, handler: @escaping DescriptorHandler) {
        let index = Int(descriptor)
        guard index >= 0 else { return }
        if index >= handlers.count {
            handlers += [DescriptorHandler?](repeating: nil, count: index + 1 - handlers.count)
        }
        let operation = handlers[index] == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        handlers[index] = handler
        _ = keychaind_epoll_control(poll, operation, descriptor, events)
    }

    package func unwatch(_ descriptor: Int32) {
        guard handlers.indices.contains(Int(descriptor)), handlers[Int(descriptor)] != nil else { return }
        handlers[Int(descriptor)] = nil
        _ = keychaind_epoll_control(poll, EPOLL_CTL_DEL, descriptor, 0)
    }

    /// Starts another turn after this one, without waiting for a descriptor.
    func turnAgain() {
        turnsAgain = true
    }

    /// Runs an action once after a delay, which includes time in which the system sleeps.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping @BusActor () -> Void) -> Timer {
        timers.insert(after: delay, action)
    }

    /// Runs an action once after a delay, which excludes time in which the system sleeps.
    func schedule(afterWaking delay: Duration, _ action: @escaping @BusActor () -> Void) -> Timer {
        callTimers.insert(after: delay, action)
    }

    /// Suspends for a time, without occupying a thread.
    package func wait(for delay: Duration) async {
        await withCheckedContinuation { continuation in
            schedule(after: delay) { continuation.resume() }
        }
    }

    package func cancel(_ timer: Timer) {
        switch timer.clock {
        case .continuous: timers.remove(timer)
        case .suspending: callTimers.remove(timer)
        }
    }
}

/// An object that works at the end of each turn of the event loop, such as an open connection.
@BusActor
protocol TurnParticipant: AnyObject {
    /// Handles what has arrived.
    func dispatch()

    /// Writes what was queued, after all participants have dispatched: a message of one may be answered on another.
    func flush()
}
