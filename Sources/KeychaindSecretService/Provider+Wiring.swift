import KeychaindAuthentication
import KeychaindDBus
import KeychaindRules
import KeychaindVault

extension Provider {
    /// Lets the parts hear of each other's events, once all are made.
    func connectParts() {
        notices.provider = self
        audit.onSync = { [weak notices] failure in notices?.auditWasSynced(failure) }
        changes.onProblem = { [weak notices] in notices?.keychainsMayHaveChanged() }
        vault.onProblem = { [vault, changes, diskRetry] name in
            diskRetry.start()
            if let collection = vault.collection(named: name) { changes.problemMayHaveChanged(collection) }
        }
        vault.onDisplacement = { [collections] collection in
            BusActor.start { await collections.takeUp(collection) }
        }
        vault.onLoginUnlock = { [unlocker] begun in unlocker.unlockOthersWithLogin(begun) }
        notices.followRules(of: self)
        sandboxes.sharedItems = { [rules] program, collection in
            ProgramIdentity(program).map { rules.shared(with: $0, in: collection) } ?? []
        }
        sandboxes.onUnconfirmed = { [weak notices] program in notices?.programs.sandboxIsUnconfirmed(program) }
        notices.programs.onLimit = { [weak self] program in
            if let self { NoticeActions(provider: self).limit(program) }
        }
        sandboxes.onChange = { [changes] in changes.sandboxesChanged() }
        lockouts.people.onBiometryUnlocked = { [weak notices] in notices?.resolve(.reader) }
        rules.onChange = { [connection] in
            connection.emit(.rules, InterfaceName.rules, "Changed") { _ in }
        }
        rules.onForget = { [clients] caller, item in
            for client in clients.all where client.rules.state?.caller == caller {
                client.lockChanged(of: item, to: true)
            }
        }
    }
}
