import Configuration
import DBus
import Desktop
import SecretService

/// Locks keychains when something happens to the session, as the configuration says.
@BusActor
final class AutomaticLocking {
    private let configuration: Configuration
    private let provider: Provider
    /// What waits for the session to have been idle for long enough.
    private var idleTimers: [Timer] = []

    init(configuration: Configuration, provider: Provider) {
        self.configuration = configuration
        self.provider = provider
    }

    /// Locks what is to be locked by now; the machine's sleep waits until this has returned.
    func handle(_ event: SessionEvent) {
        switch event {
        case .locked: lock(where: \.onScreenLock)
        case .aboutToSleep: lock(where: \.onSleep)
        case .ended: lock(where: \.onSessionEnd)
        case .idle: startIdleTimers()
        case .active: stopIdleTimers()
        case .unlocked, .wokeUp: break
        }
    }

    private func lock(where isMeant: (LockRules) -> Bool) {
        provider.lockCollections { name in isMeant(configuration.lockRules(of: name)) }
    }

    private func startIdleTimers() {
        stopIdleTimers()
        idleTimers = configuration.idleTimes.map { time in
            BusActor.loop.schedule(after: time) { [self] in lock { $0.afterIdle == time } }
        }
    }

    private func stopIdleTimers() {
        for timer in idleTimers {
            BusActor.loop.cancel(timer)
        }
        idleTimers = []
    }
}
