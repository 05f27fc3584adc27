package import KeychaindGcrypt
import Synchronization

/// The unlock of `login` at the start: the key is derived while the file is still being read.
///
/// Password and file may come in any order. ``Collection/unlock(with:)`` takes the key if its password is the same.
package final class EarlyUnlock: Sendable {
    private struct State: ~Copyable {
        var isOver = false
        var password: SecureBytes?
        var target: Target?
        var keys: Result<UnlockedKeys, VaultError>?
    }

    private struct Target: Sendable {
        let header: CollectionHeader
        let worker: Worker<Void>
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes a copy of the password, which ``Vault/endEarlyUnlock()`` wipes at the latest; any thread may call it.
    ///
    /// Throws ``GcryptError/Code/outOfLockedMemory``; then the key is derived later.
    package func use(_ password: borrowing SecureBytes) throws(GcryptError) {
        var copy: SecureBytes? = try password.copy(in: .locked)
        let target = state.withLock { state -> Target? in
            guard !state.isOver, state.password == nil else { return nil }
            state.password = copy.take()
            return state.target
        }
        if let target { derive(for: target) }
    }

    /// Announces the first header that was read.
    func begin(with header: CollectionHeader, on worker: Worker<Void>) {
        let target = state.withLock { state -> Target? in
            guard !state.isOver, state.target == nil else { return nil }
            let target = Target(header: header, worker: worker)
            state.target = target
            return state.password == nil ? nil : target
        }
        if let target { derive(for: target) }
    }

    private func derive(for target: Target) {
        target.worker.post { [self] _ in
            guard let password = copyOfPassword() else { return }
            let keys: Result<UnlockedKeys, VaultError>
            do throws(VaultError) {
                keys = .success(try UnlockedKeys.unlock(target.header, with: .text(password)))
            } catch {
                keys = .failure(error)
            }
            state.withLock { state in
                if !state.isOver { state.keys = keys }
            }
        }
    }

    private func copyOfPassword() -> Handoff<SecureBytes>? {
        state.withLock { state in
            guard let copy = try? state.password?.copy(in: .locked) else { return nil }
            return Handoff(copy)
        }
    }

    /// Returns the keys, or why there are none, if they were derived from this password and header; once.
    ///
    /// Must be called on the worker of ``begin(with:on:)``, after the derivation.
    func take(for key: UnlockKey, _ header: CollectionHeader) -> Result<UnlockedKeys, VaultError>? {
        defer { end() }
        guard case .text(let text) = key else { return nil }
        return state.withLock { state in
            guard state.target?.header == header, let keys = state.keys else { return nil }
            let isSame = text.read { text in state.password?.isEqual(to: text) ?? false } ?? false
            return isSame ? keys : nil
        }
    }

    /// Wipes the password and the keys.
    func end() {
        state.withLock { state in state = State(isOver: true) }
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
        if case .file(let worker) = storage { worker.post { writer in writer.ahead = nil } }
    }
}
