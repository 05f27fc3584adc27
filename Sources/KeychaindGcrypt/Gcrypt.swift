import CKeychaindGcrypt
import Synchronization

/// Initializes libgcrypt, once per process and from any thread.
///
/// The module initializes it on first use with a pool of ``defaultLockedBytes``. Call ``initialize(lockedBytes:)`` to
/// choose the size of the pool, or to find out whether it is locked.
package enum Gcrypt {
    package enum LockedMemory: Equatable, Sendable {
        case locked

        /// The pool works but may be swapped.
        case notLocked(reason: String)
    }

    /// The default size of the pool, which holds the keys of a few collections within any usual `RLIMIT_MEMLOCK`.
    package static let defaultLockedBytes = 64 * 1024

    private static let oldestVersion = "1.10.0"
    private static let sizes = 16 * 1024...64 * 1024 * 1024

    private static let state = Mutex<LockedMemory?>(nil)

    /// Initializes libgcrypt with a pool of locked memory, and returns whether it was locked.
    ///
    /// The first call in the process decides; later calls return its result.
    ///
    /// - Parameter lockedBytes: 16 KiB to 64 MiB, never grown; a full pool refuses keys with
    ///   ``GcryptError/Code/outOfLockedMemory`` rather than put them in swappable memory.
    package static func initialize(lockedBytes: Int) throws(GcryptError) -> LockedMemory {
        guard sizes.contains(lockedBytes) else {
            throw GcryptError(.invalidParameters, reason: "a locked pool cannot have \(lockedBytes) bytes")
        }
        return try state.withLock { (state) throws(GcryptError) in
            if let state { return state }
            let started = try start(lockedBytes: UInt32(lockedBytes))
            state = started
            return started
        }
    }

    /// Whether the machine keeps libgcrypt to the algorithms of FIPS 140, without the X25519 that keychains need.
    ///
    /// Creates no pool.
    package static var isInFIPSMode: Bool {
        gcry_check_version(nil) != nil && keychaind_gcry_is_in_fips_mode() != 0
    }

    /// Whether the pool has this many contiguous bytes left.
    package static func hasLockedMemory(bytes: Int) -> Bool {
        (try? SecureBytes(count: bytes, in: .locked)) != nil
    }

    static func initializeIfNeeded() throws(GcryptError) {
        _ = try initialize(lockedBytes: defaultLockedBytes)
    }

    private static func start(lockedBytes: UInt32) throws(GcryptError) -> LockedMemory {
        guard gcry_check_version(oldestVersion) != nil else {
            throw GcryptError(.initializationFailed, reason: "libgcrypt is older than \(oldestVersion)")
        }
        // Another library in this process has created the pool, which is possible only once.
        guard keychaind_gcry_initialization_finished() == 0 else {
            return .notLocked(reason: "another library of this process has created the pool")
        }
        let result = keychaind_gcry_initialize_secure_memory(lockedBytes)
        keychaind_gcry_finish_initialization()
        guard keychaind_gcry_initialization_finished() != 0 else {
            throw GcryptError(.initializationFailed, reason: "libgcrypt did not finish its initialization")
        }
        guard result == 0 else {
            return .notLocked(reason: "\(lockedBytes) bytes could not be locked; raise RLIMIT_MEMLOCK")
        }
        return .locked
    }
}
