import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault
import Logging

/// Verifies the password or recovery key of a locked collection by unlocking it, unless it is locked meanwhile.
@BusActor
final class CollectionPassword: PasswordVerifier {
    private(set) var collection: Collection
    private let client: Client?
    private let unlocker: Unlocker
    private let follows: Bool
    /// When the password was given, before its attempt was recorded.
    private var begun: LockMoment
    /// Why the last password did not unlock the collection; `locked` if the collection was locked meanwhile.
    private(set) var failure: VaultError?

    /// - Parameters:
    ///   - client: the client whose prompt asks, if any.
    ///   - begun: when the password was given; nil if that is now, or if a person is asked for it.
    ///   - follows: whether a person's password is for the collection that is there when it is given: the file may be
    ///     replaced or restored while the dialog is open.
    init(
        of collection: Collection,
        for client: Client? = nil,
        begun: LockMoment? = nil,
        follows: Bool = false,
        unlocker: Unlocker
    ) {
        self.follows = follows
        self.begun = begun ?? unlocker.vault.unlockStart
        self.collection = collection
        self.client = client
        self.unlocker = unlocker
    }

    var isSet: Bool { !collection.isVacant }

    func passwordWasGiven() {
        begun = unlocker.vault.unlockStart
    }

    func prepare() async {
        await follow()
    }

    /// Turns to the collection in place of one whose file was replaced or restored; false if it may not, or there is
    /// none in time.
    @discardableResult
    func follow() async -> Bool {
        guard follows else { return false }
        await unlocker.readiness.waitForReplacement(of: collection, in: unlocker.vault)
        let present = unlocker.vault.successor(of: collection)
        guard present !== collection else { return false }
        collection = present
        return true
    }

    func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        // When choosing the first password, an empty one does not count as a failed attempt.
        if collection.isVacant, password.isEmpty { return .wrong(.empty) }
        do throws(VaultError) {
            try unlocker.collections.checkFirstPassword(of: collection)
            let isRight = try await unlocker.unlock(collection, with: password, begun: begun, for: client)
            return isRight ? .right : .notNeeded
        } catch {
            failure = error
            let result = PasswordResult(error)
            if case .failed = result {
                unlocker.logger.error(
                    "A keychain could not be unlocked",
                    metadata: ["keychain": "\(collection.name)", "reason": "\(error)"]
                )
            }
            return result
        }
    }
}

/// A password that a prompt needs again: the one that unlocked `login`, so that it is asked for once.
@BusActor
final class KeptPassword {
    private var password: SecureBytes?

    var isThere: Bool { password != nil }

    /// Keeps a copy in locked memory; without room for it, the person is asked again.
    func keep(_ password: borrowing SecureBytes) {
        self.password = try? password.copy(in: .locked)
    }

    func forget() {
        password = nil
    }

    func copy() -> SecureBytes? {
        try? password?.copy(in: .locked)
    }
}
