import KeychaindConfiguration
import KeychaindDesktop
import KeychaindSecretService

/// The login session: what its locks, its end and sleep mean to the keychains.
extension Daemon {
    /// Ends grants on sleep, and withholds protected items while the session is locked.
    func watchSession() {
        session.onEvent { event in
            switch event {
            case .locked, .unlocked: provider.setSessionLocked(session.state.isLocked)
            case .ended: provider.endAuthentication(because: "the session has ended")
            case .aboutToSleep: provider.endAuthentication(because: "the machine is about to sleep")
            case .idle, .active, .wokeUp: break
            }
        }
        session.start()
        lockAutomatically()
    }

    /// Notices compositors as they come, so that the first one is known before a dialog needs it.
    func watchScreens() async {
        guard domain.isEntered else { return }
        let watch = FileWatch("\(SessionScreens.folder)/*") { _ = await screens.visible() }
        if await watch?.watch() == true { watch?.waitForChanges() }
        _ = await screens.visible()
    }

    private func lockAutomatically() {
        let locking = AutomaticLocking(configuration: settings.configuration, provider: provider)
        session.onEvent { locking.handle($0) }
        followSession(with: locking)
        settings.follow {
            applySettings()
            locking.use(settings.configuration)
            followSession(with: locking)
        }
    }

    /// Brings the session in line with the lock rules, at the start and after a change.
    private func followSession(with locking: AutomaticLocking) {
        if session.state.isLocked { locking.handle(.locked) }
        if settings.configuration.locksOnSleep { session.delaySleep() } else { session.stopDelayingSleep() }
    }
}
