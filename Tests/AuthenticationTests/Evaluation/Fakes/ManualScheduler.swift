import KeychaindAuthentication
import KeychaindDBus

/// Timers that a test ends.
@BusActor
final class ManualScheduler {
    private var actions: [(id: Int, delay: Duration, action: @BusActor () -> Void)] = []
    private var count = 0

    nonisolated init() {}

    /// The delays of all running timers.
    var delays: [Duration] { actions.map(\.delay) }

    var scheduler: Scheduler {
        Scheduler { [self] delay, action in
            count += 1
            let id = count
            actions.append((id, delay, action))
            return { [self] in actions.removeAll { $0.id == id } }
        }
    }

    func fire() {
        let due = actions
        actions = []
        for timer in due {
            timer.action()
        }
    }
}
