import Authentication
import DBus

/// Timers that end when a test says so.
@BusActor
final class ManualScheduler {
    private var actions: [(id: Int, delay: Duration, action: @BusActor () -> Void)] = []
    private var count = 0

    nonisolated init() {}

    /// How long the timers that have not ended were to take.
    var delays: [Duration] { actions.map(\.delay) }

    var scheduler: Scheduler {
        Scheduler { [self] delay, action in
            count += 1
            let id = count
            actions.append((id, delay, action))
            return { [self] in actions.removeAll { $0.id == id } }
        }
    }

    /// Ends all timers.
    func fire() {
        let due = actions
        actions = []
        for timer in due {
            timer.action()
        }
    }
}
