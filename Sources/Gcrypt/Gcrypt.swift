import CGcrypt
import Synchronization

/// Starts libgcrypt, once a process and from any thread.
///
/// Everything in this module starts it by itself when nothing else has, with a pool of ``defaultLockedBytes``, so the only
/// reasons to call ``initialize(lockedBytes:)`` are to choose the size of that pool and to learn whether it is locked.
package enum Gcrypt {
    /// What became of the pool of memory for keys.
    package enum LockedMemory: Equatable, Sendable {
        /// The pool never reaches swap space.
        case locked

        /// The pool works, but the system may write it to swap space.
        case notLocked(reason: String)
    }

    /// The size of the pool when nobody chose one: it fits the keys of a few collections into any sensible `RLIMIT_MEMLOCK`.
    package static let defaultLockedBytes = 64 * 1024

    private static let oldestVersion = "1.10.0"
    private static let sizes = 16 * 1024...64 * 1024 * 1024

    private static let state = Mutex<LockedMemory?>(nil)

    /// Starts libgcrypt with a pool of locked memory, and says whether locking it worked.
    ///
    /// The first call in the process decides; later calls answer what it found.
    ///
    /// - Parameter lockedBytes: the size of the pool, 16 KiB to 64 MiB. It never grows: when it is used up, keys are refused
    ///   with ``GcryptError/Code/outOfLockedMemory`` rather than put in memory that may be swapped.
    package static func initialize(lockedBytes: Int) throws(GcryptError) -> LockedMemory {
        guard sizes.contains(lockedBytes) else {
            throw GcryptError(.invalidParameters, reason: "a pool of \(lockedBytes) bytes of locked memory")
        }
        return try state.withLock { (state) throws(GcryptError) in
            if let state { return state }
            let started = try start(lockedBytes: UInt32(lockedBytes))
            state = started
            return started
        }
    }

    /// Whether the pool of locked memory has that many bytes left, in one piece.
    package static func hasLockedMemory(bytes: Int) -> Bool {
        (try? SecureBytes(count: bytes, in: .locked)) != nil
    }

    /// Starts libgcrypt with the default pool unless it has been started.
    static func initializeIfNeeded() throws(GcryptError) {
        _ = try initialize(lockedBytes: defaultLockedBytes)
    }

    private static func start(lockedBytes: UInt32) throws(GcryptError) -> LockedMemory {
        guard gcry_check_version(oldestVersion) != nil else {
            throw GcryptError(.initializationFailed, reason: "libgcrypt is older than \(oldestVersion)")
        }
        // Somebody else in the process was first, and has chosen the pool: it cannot be made twice.
        guard keychaind_gcry_initialization_finished() == 0 else {
            return .notLocked(reason: "the pool is that of another library in this process")
        }
        let result = keychaind_gcry_initialize_secure_memory(lockedBytes)
        keychaind_gcry_finish_initialization()
        guard keychaind_gcry_initialization_finished() != 0 else {
            throw GcryptError(.initializationFailed, reason: "libgcrypt did not finish its initialization")
        }
        // libgcrypt has one code for a pool that it could make but not lock, and none that says why.
        guard result == 0 else {
            return .notLocked(reason: "\(lockedBytes) bytes could not be locked; RLIMIT_MEMLOCK may be lower")
        }
        return .locked
    }
}
