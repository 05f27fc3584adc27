import Glibc
import KeychaindAuthentication
import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService
import KeychaindTPM
import KeychaindVault
import Logging

/// Unlocking at the start: by a handover, the host key slot, a login, or a password.
extension Daemon {
    /// Unlocks what was unlocked before the restart, with the keys kept by systemd.
    func takeOver(_ passed: PassedDescriptors) async {
        // A process that is ending leaves them to the next one.
        guard !provider.hasEnded, receiveKeys(passed) else { return }
        // The screen may be locked, which withholds items.
        await session.waitForAnswer(within: .seconds(2))
        // At its end, the process has handed them over again.
        guard !provider.hasEnded else { return }
        let names = await vault.takeOver()
        guard !names.isEmpty else {
            let reason = "the kept keys open no keychain"
            return logger.warning("Keychains are locked after the restart", metadata: ["reason": "\(reason)"])
        }
        logger.notice(
            "Keychains stay unlocked across the restart",
            metadata: ["keychains": "\(names.map(\.description).joined(separator: ", "))"]
        )
    }

    /// Takes the kept keys from systemd into the vault; false if there are none.
    private func receiveKeys(_ passed: PassedDescriptors) -> Bool {
        let sealed = domain.runtimeDirectory.map(SealedHandover.init)
        // Not later: an early end writes the file again.
        defer { sealed?.remove() }
        guard let kept = KeptKeys.take(passed.descriptors(named: KeptKeys.name)) else { return false }
        do throws(VaultError) {
            guard let keys = try keys(from: kept, sealed) else { return false }
            try vault.receive(keys)
            return true
        } catch {
            logger.error("Keychains are locked after the restart", metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// The previous process's keys: in the domain opened with the kept key, otherwise the kept keys themselves.
    private func keys(from kept: consuming SecureBytes, _ sealed: SealedHandover?) throws(VaultError) -> SecureBytes? {
        guard let sealed else { return kept }
        do throws(GcryptError) {
            return try sealed.take(kept)
        } catch {
            throw VaultError(error)
        }
    }

    /// The secret for systemd to keep: in the domain only the key of a sealed file, otherwise the keys.
    private func kept(_ keys: consuming SecureBytes) throws(VaultError) -> SecureBytes {
        guard let directory = domain.runtimeDirectory else { return keys }
        do throws(GcryptError) {
            return try SealedHandover(directory: directory).leave(keys)
        } catch {
            throw VaultError(error)
        }
    }

    /// Hands the keys of unlocked keychains, and kept keys that are not used yet, to systemd for the next process.
    ///
    /// Blocks until systemd has received them.
    func handOver() {
        do throws(VaultError) {
            guard let keys = try vault.handOver() else { return }
            guard ServiceManager.isThere else {
                return logger.notice("There is no systemd to keep the vault unlocked: the next start finds it locked")
            }
            let kept = try kept(keys)
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
    func unlock(withPasswordFrom reading: StartPassword.Reading) async {
        defer {
            vault.endEarlyUnlock()
            provider.vaultIsOpen()
        }
        let input = await reading.outcome()
        guard let login = vault.collection(named: .login) else { return }
        switch consume input {
        case .password(let password):
            do throws(VaultError) {
                try await provider.unlock(login, with: password)
            } catch {
                logger.error("The keychain 'login' stays locked", metadata: ["reason": "\(error.reason)"])
            }
        case .failure(let reason):
            logger.error("The keychain 'login' stays locked", metadata: ["reason": "\(reason)"])
        }
    }
}
