import Authentication
import Configuration
import DBus
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
        guard let keys = KeptKeys.take(passed.descriptors(named: KeptKeys.name)) else { return }
        do throws(VaultError) {
            let names = try await vault.takeOver(keys)
            logger.notice(
                "Keychains stay unlocked across the restart",
                metadata: ["keychains": "\(names.map(\.description).joined(separator: ", "))"]
            )
        } catch {
            logger.error("Keychains do not stay unlocked across the restart", metadata: ["reason": "\(error)"])
        }
    }

    /// Leaves the keys of what is unlocked to the process that comes next, if there will be one.
    ///
    /// Blocks until systemd has heard of it.
    func handOver() {
        do throws(VaultError) {
            guard let keys = try vault.handOver() else { return }
            guard ServiceManager.isThere else {
                return logger.info("Nobody keeps the keys of what is unlocked: the next start finds it locked")
            }
            if let reason = KeptKeys.leave(keys) {
                return logger.warning("The keys of what is unlocked cannot be kept", metadata: ["reason": "\(reason)"])
            }
            ServiceManager.waitUntilHeard()
        } catch {
            logger.warning("The keys of what is unlocked cannot be kept", metadata: ["reason": "\(error)"])
        }
    }

    /// Begins to unlock `login` with this computer, if it is to; calls that come from then on wait until that is done.
    func unlockByHost(_ configuration: Configuration) {
        host.configure(configuration)
        guard configuration.host.unlocksAtStart, let login = vault.collection(named: .login) else { return }
        BusActor.start { await provider.unlockByHost(login) }
    }

    /// Takes the passwords of logins; who has connected before the start is served before any program.
    ///
    /// Keychains in a folder of their own are not those that the account's password is for.
    func listenForLogins(_ passed: PassedDescriptors) async {
        var socket = LoginSocket.usable(passed.descriptors(named: LoginSocket.name))
        if socket == nil, options.dataDirectory == nil, let folder = UserFolders.runtime {
            socket = LoginSocket.listen(in: folder, logger: logger)
        }
        if let socket { await logins.start(on: socket) }
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
