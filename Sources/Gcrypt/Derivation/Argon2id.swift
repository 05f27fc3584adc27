import CGcrypt

/// Argon2id (RFC 9106): a key from a password, at a cost that can be chosen.
///
/// The parameters come from files that anybody may have written: a derivation refuses what is out of bounds instead of taking
/// all memory or running for hours.
package struct Argon2id: Equatable, Sendable {
    /// The memory that it may take, in KiB.
    package static let memoryBounds = 8...1024 * 1024

    /// How often it may go over the memory.
    package static let iterationBounds = 1...64

    /// How many lanes there may be, each of which needs at least 8 KiB.
    package static let laneBounds = 1...16

    /// How long a salt may be, in bytes.
    package static let saltBounds = 8...64

    /// How many bytes it may give: libgcrypt before 1.10.2 gets more than 64 wrong.
    package static let countBounds = 4...64

    /// The memory in KiB.
    package let memoryKiB: Int

    /// How often it goes over the memory.
    package let iterations: Int

    /// In how many lanes the memory is filled, one after the other here.
    package let lanes: Int

    /// Creates parameters, which are checked when they are used.
    package init(memoryKiB: Int, iterations: Int, lanes: Int) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
        self.lanes = lanes
    }

    /// Derives bytes from a password into locked memory.
    ///
    /// It blocks for as long as the parameters ask: call it on a thread that may wait. Throws
    /// ``GcryptError/Code/invalidParameters`` when anything is out of bounds or the password is empty.
    package func derive(
        password: borrowing SecureBytes,
        salt: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        try derive(password: password, salt: salt, pepper: try SecureBytes(count: 0), associatedData: [], count: count)
    }

    /// Derives bytes from a password, a second secret that is not stored with the salt, and data to bind the result to.
    ///
    /// The pepper is RFC 9106's secret value K, the associated data its X.
    package func derive(
        password: borrowing SecureBytes,
        salt: [UInt8],
        pepper: borrowing SecureBytes,
        associatedData: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        try checkBounds(salt: salt, count: count)
        // libgcrypt does not take one, and no caller should have one.
        guard !password.isEmpty else {
            throw GcryptError(.invalidParameters, reason: "an empty password for Argon2id")
        }
        try Gcrypt.initializeIfNeeded()
        var output = try SecureBytes(count: count, in: .locked)
        let parameters = [UInt(count), UInt(iterations), UInt(memoryKiB), UInt(lanes)]
        // libgcrypt keeps pointers to the inputs until it has computed.
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
        guard Argon2id.laneBounds.contains(lanes), Argon2id.iterationBounds.contains(iterations),
            Argon2id.memoryBounds.contains(memoryKiB), memoryKiB >= 8 * lanes
        else {
            throw GcryptError(
                .invalidParameters,
                reason: "Argon2id with \(memoryKiB) KiB, \(iterations) iterations, \(lanes) lanes"
            )
        }
        guard Argon2id.saltBounds.contains(salt.count) else {
            throw GcryptError(.invalidParameters, reason: "an Argon2id salt of \(salt.count) bytes")
        }
        guard Argon2id.countBounds.contains(count) else {
            throw GcryptError(.invalidParameters, reason: "\(count) bytes of Argon2id")
        }
    }
}
