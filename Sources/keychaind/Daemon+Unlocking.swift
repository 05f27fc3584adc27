import Authentication
import Configuration
import DBus
import Desktop
import Gcrypt
import Glibc
import KeychainModel
import Logging
import SecretService
import Vault

/// The ways in which keychains come to be unlocked at the start, and stay so across it.
extension Daemon {
    /// Unlocks what the process before this one has had unlocked, with the keys that systemd has kept.
    func takeOver(_ passed: PassedDescriptors) async {
        let sealed = domain.runtimeDirectory.map(SealedHandover.init)
        // What is left of an earlier process goes, whether or not there is a key to it.
        defer { sealed?.remove() }
        guard let kept = KeptKeys.take(passed.descriptors(named: KeptKeys.name)) else { return }
        do throws(VaultError) {
            guard let keys = try keys(from: kept, sealed) else { return }
            let names = try await vault.takeOver(keys)
            logger.notice(
                "Keychains stay unlocked across the restart",
                metadata: ["keychains": "\(names.map(\.description).joined(separator: ", "))"]
            )
        } catch {
            logger.error("Keychains do not stay unlocked across the restart", metadata: ["reason": "\(error)"])
        }
    }

    /// The keys that the process before has left: those that systemd has kept, or in the domain what these open.
    private func keys(from kept: consuming SecureBytes, _ sealed: SealedHandover?) throws(VaultError) -> SecureBytes? {
        guard let sealed else { return kept }
        do throws(GcryptError) {
            return try sealed.take(kept)
        } catch {
            throw VaultError(error)
        }
    }

    /// What systemd keeps of the keys: in the domain only the key to a file that nobody outside of it can reach.
    private func kept(_ keys: consuming SecureBytes) throws(VaultError) -> SecureBytes {
        guard let directory = domain.runtimeDirectory else { return keys }
        do throws(GcryptError) {
            return try SealedHandover(directory: directory).leave(keys)
        } catch {
            throw VaultError(error)
        }
    }

    /// Leaves the keys of what is unlocked to the process that comes next, if there will be one.
    ///
    /// Blocks until systemd has heard of it.
    func handOver() {
        do throws(VaultError) {
            guard let keys = try vault.handOver() else { return }
            guard ServiceManager.isThere else {
                return logger.notice("Nobody keeps the keys of what is unlocked: the next start finds it locked")
            }
            if let reason = KeptKeys.leave(try kept(keys)) {
                return logger.warning("The keys of what is unlocked cannot be kept", metadata: ["reason": "\(reason)"])
            }
            ServiceManager.waitUntilHeard()
        } catch {
            logger.warning("The keys of what is unlocked cannot be kept", metadata: ["reason": "\(error)"])
        }
    }

    /// Begins to unlock `login` with this computer, if it is to; calls that come from then on wait until that is done.
    func unlockByHost(_ configuration: Configuration) {
        host.configure(configuration, in: domain, logger: logger)
        guard configuration.host.unlocksAtStart, let login = vault.collection(named: .login) else { return }
        BusActor.start { await provider.unlockByHost(login) }
    }

    /// The socket at which logins are to be heard, or why there is none; nil if they are not to be.
    ///
    /// Whoever connects waits for ``listenForLogins(_:at:)``.
    func openLoginSocket(_ passed: PassedDescriptors) -> Result<Int32, LoginSocket.Failure>? {
        let usable = LoginSocket.usable(passed.descriptors(named: LoginSocket.name))
        switch domain {
        case .entered(let group, _, _, let runtimeDirectory):
            return openDomainSocket(in: runtimeDirectory, group: group)
        case .none:
            if let usable { return .success(usable) }
        }
        // Keychains in a folder of their own are not those that the account's password is for.
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

    /// Takes the passwords of logins; who has connected before the start is served before any program.
    func listenForLogins(_ passed: PassedDescriptors, at early: Result<Int32, LoginSocket.Failure>?) async {
        if domain.isEntered { LoginSocket.usable(passed.descriptors(named: LoginSocket.name)).map(WakeSocket.serve) }
        var socket = early
        // The one that was replaced may have listened until now.
        if case .failure = early { socket = openLoginSocket(passed) }
        switch socket {
        case .success(let socket): await logins.start(on: socket)
        case .failure(let failure):
            logger.notice("Logins cannot unlock", metadata: ["reason": "\(failure.reason)"])
        case nil: break
        }
    }

    /// Unlocks `login` with what is to be read from a descriptor, making it if it is not there.
    ///
    /// Calls wait from the start, through the deriving of the key, until it is known whether the password is right.
    func unlock(withPasswordFrom descriptor: Int32) async {
        defer { provider.vaultIsOpen() }
        let input = await BlockingThread.run { PasswordInput.read(from: descriptor) }
        if descriptor > STDERR_FILENO { close(descriptor) }
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
