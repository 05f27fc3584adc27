import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindVault

/// Runs operations with keys, which take milliseconds to seconds, one at a time on threads of their own.
///
/// Programs take turns: whatever one of them requests, another waits for at most one operation of it before its own.
/// New keys have turns of their own, since a large one takes seconds. So have the operations of the token, which is a
/// slow device and may not answer.
@BusActor
final class KeyWorker {
    private let generationLimit: Int
    private let uses = FairLock<Program>()
    private let tokenUses = FairLock<Program>()
    private let generations: FairLock<Program>
    let token: any KeyToken

    /// - Parameters:
    ///   - generationLimit: the most waiting generations of a program. Its waiting uses are limited as its calls.
    ///   - token: the device for keys that never leave it.
    nonisolated init(generationLimit: Int, token: any KeyToken) {
        self.generationLimit = generationLimit
        self.token = token
        generations = FairLock(waitersPerOwner: generationLimit)
    }

    /// Runs an operation in the turn of the client's program; does not begin it if the client has left.
    ///
    /// - Parameter inToken: whether it is one of the token.
    func use<Result: ~Copyable>(
        for client: Client,
        inToken: Bool = false,
        _ operation: () async throws(BusError) -> Result
    ) async throws(BusError) -> Result {
        let lock = inToken ? tokenUses : uses
        _ = await client.lock(lock)
        defer { lock.unlock() }
        try client.checkConnected()
        return try await operation()
    }

    /// Generates a private key in the turn of the client's program.
    ///
    /// Throws `LimitsExceeded` past the limit, and an error of `Key1` for a type or size that cannot be generated.
    ///
    /// - Parameter inToken: whether the token makes and holds the key.
    func generate(
        _ type: KeyType,
        bits: Int,
        inToken: Bool,
        for client: Client
    ) async throws(BusError) -> GeneratedKey {
        guard !inToken else {
            return try await use(for: client, inToken: true) { () async throws(BusError) in
                try await KeyWorker.run { [token] () throws(KeyError) in
                    try GeneratedKey(TokenKey(making: type, bits: bits, in: token))
                }
            }
        }
        guard case .acquired = await client.lock(generations) else {
            throw BusError(.limitsExceeded, "\(generationLimit) of your new keys are waiting already")
        }
        defer { generations.unlock() }
        try client.checkConnected()
        return try await KeyWorker.run { () throws(KeyError) in
            try GeneratedKey(KeyMaterial(making: type, bits: bits))
        }
    }

    /// Throws `InvalidArgs` if a new secret claims to be a private key, but is not one of the type in the attributes.
    func check(_ secret: borrowing Secret, _ attributes: Attributes, for client: Client) async throws(BusError) {
        guard !secret.isReleasable else { return }
        guard secret.contentType == ReservedContentType.privateKey.rawValue else {
            throw BusError(.invalidArguments, "the content type is reserved")
        }
        let copy: SecureBytes
        do throws(GcryptError) {
            copy = try secret.bytes.copy(in: .ordinary)
        } catch {
            throw BusError(error)
        }
        let key = try UsableKey(Secret(bytes: copy, contentType: secret.contentType), attributes, token: token)
        try await use(for: client) { () async throws(BusError) in
            do throws(KeyError) {
                try await BlockingThread.run { KeyOutcome { () throws(KeyError) in _ = try key.read() } }.get()
            } catch {
                throw error.code == .malformedKey || error.code == .unsupportedKey
                    ? BusError(.invalidArguments, error.reason) : BusError(error)
            }
        }
    }

    /// Runs an operation on a thread of its own.
    static func run<Value: ~Copyable & Sendable>(
        _ operation: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(BusError) -> Value {
        do throws(KeyError) {
            return try await BlockingThread.run { KeyOutcome(operation) }.get()
        } catch {
            throw BusError(error)
        }
    }
}
