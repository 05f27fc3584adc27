import CGcrypt

/// A libgcrypt integer of any size, not negative, released with this value.
struct Integer: ~Copyable {
    private let value: gcry_mpi_t

    /// Takes over an integer of libgcrypt's.
    init(taking value: gcry_mpi_t) {
        self.value = value
    }

    /// Reads an unsigned integer, most significant byte first; from locked memory it goes to locked memory.
    init(bytes: UnsafeRawBufferPointer) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var scanned: gcry_mpi_t?
        let result = gcry_mpi_scan(&scanned, GCRYMPI_FMT_USG, bytes.baseAddress, bytes.count, nil)
        try check(result, "read an integer", locked: true)
        guard let scanned else {
            throw GcryptError(.operationFailed, reason: "read an integer: no value")
        }
        value = scanned
    }

    /// Reads an unsigned integer in hexadecimal digits.
    init(hexadecimal digits: StaticString) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var scanned: gcry_mpi_t?
        try check(gcry_mpi_scan(&scanned, GCRYMPI_FMT_HEX, digits.utf8Start, 0, nil), "read an integer")
        guard let scanned else {
            throw GcryptError(.operationFailed, reason: "read an integer: no value")
        }
        value = scanned
    }

    /// Makes a zero with room for that many bits.
    init(bits: UInt32, in memory: SecureBytes.Memory) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        guard let value = memory == .locked ? gcry_mpi_snew(bits) : gcry_mpi_new(bits) else {
            let code: GcryptError.Code = memory == .locked ? .outOfLockedMemory : .outOfMemory
            throw GcryptError(code, reason: "no room for an integer of \(bits) bits")
        }
        self.value = value
    }

    deinit {
        gcry_mpi_release(value)
    }

    /// Gives libgcrypt's own integer to a closure, which must not keep it.
    borrowing func withHandle<Result>(_ body: (gcry_mpi_t) -> Result) -> Result {
        body(value)
    }

    /// The number of bytes without leading zeros.
    var size: Int { (Int(gcry_mpi_get_nbits(value)) + 7) / 8 }

    /// Whether it is less than a small number.
    borrowing func isLess(than number: UInt) -> Bool {
        gcry_mpi_cmp_ui(value, number) < 0
    }

    /// Whether it is less than another integer.
    borrowing func isLess(than other: borrowing Integer) -> Bool {
        gcry_mpi_cmp(value, other.value) < 0
    }

    /// The integer less one.
    borrowing func minusOne() throws(GcryptError) -> Integer {
        let difference = try Integer(bits: gcry_mpi_get_nbits(value), in: .ordinary)
        gcry_mpi_sub_ui(difference.value, value, 1)
        return difference
    }

    /// The integer to a power, modulo another.
    borrowing func power(
        _ exponent: borrowing Integer,
        modulo modulus: borrowing Integer,
        in memory: SecureBytes.Memory
    ) throws(GcryptError) -> Integer {
        let result = try Integer(bits: gcry_mpi_get_nbits(modulus.value), in: memory)
        gcry_mpi_powm(result.value, value, exponent.value, modulus.value)
        return result
    }

    /// Writes the integer right-aligned to a buffer, with zeros before it.
    borrowing func write(to buffer: UnsafeMutableRawBufferPointer) throws(GcryptError) {
        guard size <= buffer.count else {
            throw GcryptError(.operationFailed, reason: "an integer of \(size) bytes for a buffer of \(buffer.count)")
        }
        let padding = buffer.count - size
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<padding]).initializeMemory(as: UInt8.self, repeating: 0)
        guard size > 0, let base = buffer.baseAddress else { return }
        let start = (base + padding).assumingMemoryBound(to: UInt8.self)
        try check(gcry_mpi_print(GCRYMPI_FMT_USG, start, size, nil, value), "write an integer")
    }
}
