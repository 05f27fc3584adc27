import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindSecretService

/// Locks keychains on session events, by the configured rules.
@BusActor
final class AutomaticLocking {
    private var configuration: Configuration
    private let provider: Provider
    /// One timer for each configured idle time.
    private var idleTimers: [Timer] = []
    private var isIdle = false

    init(configuration: Configuration, provider: Provider) {
        self.configuration = configuration
        self.provider = provider
    }

    /// Uses other rules from now on; the idle time counts from now.
    func use(_ configuration: Configuration) {
        self.configuration = configuration
        if isIdle { startIdleTimers() }
    }

    /// Applies the rules for an event; sleep is delayed until this returns.
    func handle(_ event: SessionEvent) {
        switch event {
        case .locked: lock(where: \.onScreenLock)
        case .aboutToSleep: lock(where: \.onSleep)
        case .ended: lock(where: \.onSessionEnd)
        case .idle: startIdleTimers()
        case .active:
            isIdle = false
            stopIdleTimers()
        case .unlocked, .wokeUp: break
        }
    }

    private func lock(where isMeant: (LockRules) -> Bool) {
        provider.lockCollections { name in isMeant(configuration.lockRules(of: name)) }
    }

    private func startIdleTimers() {
        stopIdleTimers()
        isIdle = true
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
