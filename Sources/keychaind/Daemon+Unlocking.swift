import Glibc
import KeychaindAuthentication
import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindSecretService
import KeychaindTPM
import KeychaindVault
import Logging

/// Unlocking at the start: by a handover, the host key slot, a login, or a password.
extension Daemon {
    /// Unlocks what was unlocked before the restart, with the keys kept by systemd.
    func takeOver(_ passed: PassedDescriptors) async {
        let kept = passed.descriptors(named: KeptKeys.name)
        guard !kept.isEmpty else {
            sealedHandover?.remove()
            return
        }
        let start = await UserManager().restart(in: .start)
        // A process that is ending leaves them to the next one.
        guard !provider.hasEnded, receiveKeys(kept, at: start) else { return }
        // The screen may be locked, which withholds items.
        await session.waitForAnswer(within: .seconds(2))
        // At its end, the process has handed them over again.
        guard !provider.hasEnded else { return }
        let names = await vault.takeOver()
        guard !names.isEmpty else { return reportLocked("the kept keys open no keychain") }
        logger.notice(
            "Keychains stay unlocked across the restart",
            metadata: ["keychains": "\(names.map(\.description).joined(separator: ", "))"]
        )
    }

    /// Takes the kept keys from systemd into the vault; false if there are none for this start.
    private func receiveKeys(_ descriptors: [Int32], at start: RestartStamp?) -> Bool {
        // Not later: an early end writes the file again.
        defer { sealedHandover?.remove() }
        guard let kept = KeptKeys.take(descriptors) else { return false }
        do throws(VaultError) {
            guard var keys = try keys(from: kept) else { return false }
            guard let start, let restart = RestartStamp.take(from: &keys), restart.isFollowed(by: start) else {
                reportLocked("systemd's kept keys are not for this start")
                return false
            }
            try vault.receive(keys)
            if restart.hasSession { session.takeOver() }
            return true
        } catch {
            reportLocked("\(error)")
            return false
        }
    }

    private func reportLocked(_ reason: String) {
        logger.warning("Keychains are locked after the restart", metadata: ["reason": "\(reason)"])
    }

    /// The previous process's keys: in the domain opened with the kept key, otherwise the kept keys themselves.
    private func keys(from kept: consuming SecureBytes) throws(VaultError) -> SecureBytes? {
        guard let sealedHandover else { return kept }
        do throws(GcryptError) {
            return try sealedHandover.take(kept)
        } catch {
            throw VaultError(error)
        }
    }

    /// The secret for systemd to keep: in the domain only the key of a sealed file, otherwise the keys.
    private func kept(_ keys: borrowing SecureBytes, for restart: RestartStamp) throws(VaultError) -> SecureBytes {
        do throws(GcryptError) {
            let keys = try restart.stamped(keys)
            guard let sealedHandover else { return keys }
            return try sealedHandover.leave(keys)
        } catch {
            throw VaultError(error)
        }
    }

    /// The file of keys in the domain; nil without one.
    var sealedHandover: SealedHandover? { domain.runtimeDirectory.map(SealedHandover.init) }

    /// The keys of unlocked keychains, and kept keys that are not used yet; nil if there are none.
    func keysToHandOver() -> SecureBytes? {
        do throws(VaultError) {
            return try vault.handOver()
        } catch {
            logger.warning("Keychains will be locked after a restart", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Leaves keys and the bus name to the next process if systemd is restarting the service.
    ///
    /// Otherwise also removes the file of an earlier process; systemd discards the descriptors. Blocks until systemd
    /// has received them.
    func leave(_ keys: consuming SecureBytes?) async {
        guard await UserManager().restart(in: .restart) != nil else {
            sealedHandover?.remove()
            return
        }
        await keepName()
        // That took its time: a stop may have come in place of the restart.
        guard let keys, var restart = await UserManager().restart(in: .restart) else {
            sealedHandover?.remove()
            return
        }
        restart.hasSession = session.hasSession
        do throws(VaultError) {
            let kept = try kept(keys, for: restart)
            do throws(KeptKeys.Failure) {
                try KeptKeys.leave(kept)
            } catch {
                let reason = error.reason
                return logger.warning("Keychains will be locked after a restart", metadata: ["reason": "\(reason)"])
            }
            ServiceManager.waitUntilHeard()
        } catch {
            logger.warning("Keychains will be locked after a restart", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends the providers that wait for the name, one of which would have it before the next process.
    private func keepName() async {
        do throws(BusError) {
            let address = try SessionBusAddress.find(in: domain)
            let waiting = try await NameOwner.endWaitingProviders(Provider.busName, at: address)
            guard !waiting.isEmpty else { return }
            let programs = waiting.joined(separator: ", ")
            logger.warning("Another program gets the bus name in the restart", metadata: ["waiting": "\(programs)"])
        } catch {
            let reason = "the bus does not say who waits for it: \(error.message)"
            logger.warning("Another program may get the bus name in the restart", metadata: ["reason": "\(reason)"])
        }
    }

    /// Starts unlocking `login` with the host key slot, if configured; later calls wait for it.
    func unlockByHost(_ configuration: Configuration) {
        tpm.configure(configuration, in: domain, logger: logger)
        securityKeys.configure(configuration, in: domain, logger: logger)
        guard configuration.host.unlocksAtStart, let login = vault.collection(named: .login) else { return }
        BusActor.start { await provider.unlockByHost(login) }
    }

    /// The listening socket for logins, or the reason for its absence; nil with `--data-dir`.
    ///
    /// Connections wait for ``listenForLogins(_:at:)``.
    func openLoginSocket(_ passed: PassedDescriptors) -> Result<Int32, LoginSocket.Failure>? {
        let usable = LoginSocket.usable(passed.descriptors(named: LoginSocket.name))
        switch domain {
        case .entered(let group, _, _, let runtimeDirectory):
            return openDomainSocket(in: runtimeDirectory, group: group)
        case .none:
            if let usable { return .success(usable) }
        }
        // The account's password is not for the keychains in that folder.
        guard options.dataDirectory == nil else { return nil }
        guard let folder = UserFolders.runtime else {
            return .failure(LoginSocket.Failure("XDG_RUNTIME_DIR names no folder"))
        }
        do throws(LoginSocket.Failure) {
            return .success(try LoginSocket.listen(in: folder))
        } catch {
            return .failure(error)
        }
    }

    private func openDomainSocket(in folder: String, group: gid_t) -> Result<Int32, LoginSocket.Failure> {
        do throws(LoginSocket.Failure) {
            return .success(try LoginSocket.listen(inDomain: folder, group: group))
        } catch {
            return .failure(error)
        }
    }

    /// Accepts passwords from logins; those already connected are served before any program.
    func listenForLogins(_ passed: PassedDescriptors, at early: Result<Int32, LoginSocket.Failure>?) async {
        if domain.isEntered { LoginSocket.usable(passed.descriptors(named: LoginSocket.name)).map(WakeSocket.serve) }
        var socket = early
        // With --replace, the previous process may have held the socket until now.
        if case .failure = early { socket = openLoginSocket(passed) }
        switch socket {
        case .success(let socket): await logins.start(on: socket)
        case .failure(let failure):
            logger.notice("Logins cannot unlock", metadata: ["reason": "\(failure.reason)"])
        case nil: break
        }
    }

    /// Unlocks `login` with a password that is being read, creating it if missing.
    ///
    /// Calls wait until the key is derived and the password checked.
    func finish(_ unlock: PasswordUnlock) async {
        unlock.start.vaultHasOpened()
        let result = await unlock.result.value()
        provider.vaultIsOpen()
        let reason: String
        switch result {
        case .right, .notNeeded: return
        case .failed(let failure): reason = failure
        case .wrong, .tooEarly, .notCounted: reason = result.warning?.english ?? ""
        }
        logger.error("The keychain 'login' stays locked", metadata: ["reason": "\(reason)"])
    }
}

/// The unlock of `login` with the password that the process was started with.
@BusActor
struct PasswordUnlock {
    let start: StartUnlock
    let result = Promise<PasswordResult>()

    private let reading: StartPassword.Reading

    init(from descriptor: Int32, _ provider: Provider) {
        reading = StartPassword.Reading(from: descriptor)
        start = StartUnlock(provider)
    }

    /// Tries the password as soon as it is read.
    func begin(hasLogin: Bool) {
        BusActor.start {
            switch await reading.outcome() {
            case .password(let password):
                result.fulfill(await start.attempt(password, hasLogin: hasLogin))
            case .failure(let reason):
                result.fulfill(.failed(reason: reason))
            }
        }
    }
}
