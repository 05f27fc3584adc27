import CKeychaindGcrypt
import Glibc

/// Argon2id (RFC 9106): derives a key from a password at a chosen cost.
///
/// The parameters may come from untrusted files, so those out of bounds are refused before they take all memory or
/// hours of time.
package struct Argon2id: Equatable, Sendable {
    /// In KiB.
    package static let memoryBounds = 8...1024 * 1024

    package static let iterationBounds = 1...64

    /// The most memory times iterations, in KiB: a few seconds.
    package static let maximumWork = 4 << 20

    /// The bounds of the number of lanes, each of which needs at least 8 KiB.
    package static let laneBounds = 1...16

    /// In bytes.
    package static let saltBounds = 8...64

    /// The bounds of the output size in bytes: libgcrypt before 1.10.2 computes more than 64 wrongly.
    package static let countBounds = 4...64

    package let memoryKiB: Int

    package let iterations: Int

    /// Computed sequentially.
    package let lanes: Int

    /// Unchecked until use.
    package init(memoryKiB: Int, iterations: Int, lanes: Int) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
        self.lanes = lanes
    }

    /// The cost of a new key: this one, or almost none in a debug build with `KEYCHAIND_CHEAP_KEYS` in the environment.
    ///
    /// Tests make hundreds of keys. A release build does not know the variable.
    package var forNewKeys: Argon2id {
        #if DEBUG
        let isCheap = getenv("KEYCHAIND_CHEAP_KEYS") != nil
        return isCheap ? Argon2id(memoryKiB: 64, iterations: 1, lanes: 1) : self
        #else
        return self
        #endif
    }

    /// Memory times iterations, in KiB; nil if a parameter or this is out of bounds.
    package var work: Int? {
        guard Argon2id.laneBounds.contains(lanes), Argon2id.iterationBounds.contains(iterations),
            Argon2id.memoryBounds.contains(memoryKiB), memoryKiB >= 8 * lanes,
            case let work = memoryKiB * iterations, work <= Argon2id.maximumWork
        else { return nil }
        return work
    }

    /// Derives bytes from a password into locked memory.
    ///
    /// Blocks for as long as the parameters demand. Throws ``GcryptError/Code/invalidParameters`` if anything is out of
    /// bounds or the password is empty.
    package func derive(
        password: borrowing SecureBytes,
        salt: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        try derive(password: password, salt: salt, pepper: try SecureBytes(count: 0), associatedData: [], count: count)
    }

    /// Derives bytes from a password, a pepper stored apart from the salt (RFC 9106's K) and associated data (its X).
    package func derive(
        password: borrowing SecureBytes,
        salt: [UInt8],
        pepper: borrowing SecureBytes,
        associatedData: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        try checkBounds(salt: salt, count: count)
        // libgcrypt rejects an empty password, and no caller should have one.
        guard !password.isEmpty else {
            throw GcryptError(.invalidParameters, reason: "the password is empty")
        }
        try Gcrypt.initializeIfNeeded()
        var output = try SecureBytes(count: count, in: .locked)
        let parameters = [UInt(count), UInt(iterations), UInt(memoryKiB), UInt(lanes)]
        // libgcrypt keeps pointers to the inputs until the computation ends.
        try password.withUnsafeBytes { (password) throws(GcryptError) in
            try pepper.withUnsafeBytes { (pepper) throws(GcryptError) in
                var handle: gcry_kdf_hd_t?
                try check(
                    gcry_kdf_open(
                        &handle,
                        Int32(GCRY_KDF_ARGON2.rawValue),
                        Int32(GCRY_KDF_ARGON2ID.rawValue),
                        parameters,
                        UInt32(parameters.count),
                        password.baseAddress,
                        password.count,
                        salt,
                        salt.count,
                        pepper.baseAddress,
                        pepper.count,
                        associatedData,
                        associatedData.count
                    ),
                    "open Argon2id"
                )
                defer { gcry_kdf_close(handle) }
                try check(gcry_kdf_compute(handle, nil), "compute Argon2id")
                try output.withUnsafeMutableBytes { (output) throws(GcryptError) in
                    try check(gcry_kdf_final(handle, output.count, output.baseAddress), "finish Argon2id")
                }
            }
        }
        return output
    }

    private func checkBounds(salt: [UInt8], count: Int) throws(GcryptError) {
        guard work != nil else {
            throw GcryptError(
                .invalidParameters,
                reason: "Argon2id parameters out of bounds: \(memoryKiB) KiB, \(iterations) iterations, \(lanes) lanes"
            )
        }
        guard Argon2id.saltBounds.contains(salt.count) else {
            throw GcryptError(.invalidParameters, reason: "the salt has \(salt.count) bytes")
        }
        guard Argon2id.countBounds.contains(count) else {
            throw GcryptError(.invalidParameters, reason: "cannot derive \(count) bytes")
        }
    }
}
