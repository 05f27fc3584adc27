import CKeychaindLinux
import Glibc
import Synchronization

/// An epoll loop that is the executor of ``BusActor`` and of its tasks.
///
/// Each turn runs the enqueued jobs, then the due timers, then waits for descriptors. Any thread may enqueue jobs.
///
/// `@unchecked Sendable`: a mutex guards `inbox`; only the thread that runs the loop, which ``BusActor`` stands for,
/// accesses the rest.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var loopIsAwake = true
    }

    /// Called with the epoll events (`EPOLLIN`, …) of a descriptor.
    typealias DescriptorHandler = @BusActor (_ events: UInt32) -> Void

    private let inbox = Mutex(Inbox())
    private let thread = Mutex<pthread_t?>(nil)
    let poll: Int32
    private let wakeup: Int32

    // Indexed by descriptor: numbers are small, and every message does this lookup.
    var handlers: [DescriptorHandler?] = []
    var timers = TimerQueue(.continuous)
    var callTimers = TimerQueue(.suspending)
    /// A timerfd for `timers`.
    ///
    /// The timeout of epoll serves `callTimers`, whose clock it shares.
    private let alarm: Int32
    /// The instant that the alarm is set to: no later than the next of `timers`.
    private var alarmInstant = Int64.max
    var participants: [any TurnParticipant] = []
    var turnsAgain = false

    /// The milliseconds without work after which a wait is a pause.
    private static let pause: Int32 = 100

    init() {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = keychaind_eventfd()
        alarm = keychaind_timer()
        precondition(poll >= 0 && wakeup >= 0 && alarm >= 0, "the process has no descriptors left for the event loop")
        _ = keychaind_epoll_control(poll, EPOLL_CTL_ADD, wakeup, keychaind_epoll_in)
        _ = keychaind_epoll_control(poll, EPOLL_CTL_ADD, alarm, keychaind_epoll_in)
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            guard !inbox.loopIsAwake else { return false }
            inbox.loopIsAwake = true
            return true
        }
        if mustWake {
            eventfd_write(wakeup, 1)
        }
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the thread of the event loop")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    // MARK: Running

    package func run() -> Never {
        thread.withLock { $0 = pthread_self() }
        var events = [epoll_event](repeating: epoll_event(), count: 16)
        while true {
            let jobs = takeJobs()
            for job in jobs {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            BusActor.assumeIsolated {
                if timers.nextDeadline != nil {
                    let now = timers.clock.now
                    while let action = timers.removeFirst(dueAt: now) { action() }
                }
                if callTimers.nextDeadline != nil {
                    let now = callTimers.clock.now
                    while let action = callTimers.removeFirst(dueAt: now) { action() }
                }
                for participant in participants { participant.dispatch() }
                for participant in participants { participant.flush() }
            }
            let count = waitForEvents(&events, milliseconds: millisecondsToWait())
            inbox.withLock { $0.loopIsAwake = true }
            for index in 0..<max(0, Int(count)) {
                handle(&events[index])
            }
        }
    }

    private func takeJobs() -> [UnownedJob] {
        inbox.withLock { inbox in
            guard !inbox.jobs.isEmpty else { return [] }
            let jobs = inbox.jobs
            inbox.jobs.removeAll(keepingCapacity: jobs.capacity <= 256)
            return jobs
        }
    }

    /// Waits; in a pause it first overwrites what finished calls have left on the stack, such as pieces of a secret.
    ///
    /// Whatever saves registers puts them there, such as the first call of a library's function.
    private func waitForEvents(_ events: inout [epoll_event], milliseconds: Int32) -> Int32 {
        let room = Int32(events.count)
        if (0...Self.pause).contains(milliseconds) { return epoll_wait(poll, &events, room, milliseconds) }
        let count = epoll_wait(poll, &events, room, Self.pause)
        guard count == 0 else { return count }
        keychaind_wipe_stack_and_registers()
        return epoll_wait(poll, &events, room, milliseconds < 0 ? -1 : milliseconds - Self.pause)
    }

    /// The longest time to sleep; from here on, an enqueued job must wake the loop.
    private func millisecondsToWait() -> Int32 {
        let mayWait = inbox.withLock { inbox in
            inbox.loopIsAwake = !inbox.jobs.isEmpty
            return inbox.jobs.isEmpty
        }
        guard mayWait, !turnsAgain else {
            turnsAgain = false
            return 0
        }
        setAlarm()
        guard let next = callTimers.nextDeadline else { return -1 }
        // Rounded up: waking early would spin until the deadline.
        return callTimers.clock.milliseconds(until: next)
    }

    /// Sets the alarm to the next of `timers`, unless it is early enough: most timers are cancelled before they are
    /// due.
    private func setAlarm() {
        guard let next = timers.nextDeadline, next < alarmInstant else { return }
        alarmInstant = next
        // Zero would disarm it.
        _ = keychaind_set_timer(alarm, max(1, next))
    }

    private func handle(_ event: inout epoll_event) {
        let descriptor = keychaind_epoll_event_descriptor(&event)
        if descriptor == wakeup {
            var count: UInt64 = 0
            eventfd_read(wakeup, &count)
            return
        }
        if descriptor == alarm {
            var count: UInt64 = 0
            read(alarm, &count, MemoryLayout<UInt64>.size)
            alarmInstant = .max
            return
        }
        let mask = keychaind_epoll_event_mask(&event)
        BusActor.assumeIsolated {
            // An earlier handler of this turn may have unwatched the descriptor.
            guard Int(descriptor) < handlers.count else { return }
            handlers[Int(descriptor)]?(mask)
        }
    }
}
