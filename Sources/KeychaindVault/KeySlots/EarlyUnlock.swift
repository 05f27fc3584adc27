package import KeychaindGcrypt
import Synchronization

/// The unlock of `login` at the start: the key is derived while the file is still being read.
///
/// Password and file may come in any order. ``Collection/unlock(with:begun:)`` takes the key if its password is the
/// same.
package final class EarlyUnlock: Sendable {
    private struct Attempt {
        var password: Handoff<SecureBytes>?
        var target: Target?
        var keys: Result<UnlockedKeys, VaultError>?
    }

    private struct Target: Sendable {
        let header: CollectionHeader
        let derivations: Derivations
    }

    /// Nil once it has ended.
    private let attempt = Mutex<Attempt?>(Attempt())

    package init() {}

    /// Takes a copy of a password that is counted as tried; any thread may call it.
    ///
    /// ``Vault/endEarlyUnlock()`` wipes the copy at the latest.
    ///
    /// Throws ``GcryptError/Code/outOfLockedMemory``; then the key is derived later.
    package func use(_ password: borrowing SecureBytes) throws(GcryptError) {
        let copy = Handoff(try password.copy(in: .locked))
        let target = attempt.withLock { attempt -> Target? in
            guard attempt?.password == nil else { return nil }
            attempt?.password = copy
            return attempt?.target
        }
        if let target { derive(for: target) }
    }

    /// Announces the first header that was read.
    func begin(with header: CollectionHeader, on derivations: Derivations) {
        let target = attempt.withLock { attempt -> Target? in
            guard attempt?.target == nil else { return nil }
            let target = Target(header: header, derivations: derivations)
            attempt?.target = target
            return attempt?.password == nil ? nil : target
        }
        if let target { derive(for: target) }
    }

    private func derive(for target: Target) {
        target.derivations.post { [self] in
            guard let password = copyOfPassword() else { return }
            let keys: Result<UnlockedKeys, VaultError>
            do throws(VaultError) {
                keys = .success(try UnlockedKeys.unlock(target.header, with: .text(password)))
            } catch {
                keys = .failure(error)
            }
            attempt.withLock { attempt in attempt?.keys = keys }
        }
    }

    private func copyOfPassword() -> Handoff<SecureBytes>? {
        let password = attempt.withLock { attempt in attempt?.password }
        let copy = password?.read { password -> Handoff<SecureBytes>? in
            guard let copy = try? password.copy(in: .locked) else { return nil }
            return Handoff(copy)
        }
        return copy ?? nil
    }

    /// Returns the keys, or why there are none, if they were derived from this password and header; once.
    ///
    /// Must be called on the thread of ``begin(with:on:)``, after the derivation.
    func take(for key: UnlockKey, _ header: CollectionHeader) -> Result<UnlockedKeys, VaultError>? {
        defer { end() }
        guard case .text(let text) = key else { return nil }
        return attempt.withLock { attempt in
            guard attempt?.target?.header == header, let keys = attempt?.keys else { return nil }
            let isSame = text.read { text in attempt?.password?.read { password in password.isEqual(to: text) } }
            return isSame == true ? keys : nil
        }
    }

    /// Wipes the password and the keys.
    func end() {
        attempt.withLock { attempt in attempt = nil }
    }
}

extension Vault {
    /// Forgets the password and the key of an early unlock that was not, or need not be, taken.
    package func endEarlyUnlock() {
        for collection in collections { collection.endEarlyUnlock() }
    }
}

extension Collection {
    func endEarlyUnlock() {
        guard let early = earlyUnlock else { return }
        earlyUnlock = nil
        early.end()
    }
}
