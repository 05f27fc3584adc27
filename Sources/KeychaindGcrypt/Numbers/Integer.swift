import CKeychaindGcrypt

/// A non-negative libgcrypt integer, released on deinit.
struct Integer: ~Copyable {
    /// For functions that borrow the integer.
    let value: gcry_mpi_t

    init(taking value: gcry_mpi_t) {
        self.value = value
    }

    /// Reads an unsigned integer, most significant byte first, into locked memory if the bytes are there.
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

    /// Reads a secret integer: its memory is locked as long as there is room, and libgcrypt computes with it in a time
    /// that does not depend on its value.
    init(secret bytes: UnsafeRawBufferPointer) throws(GcryptError) {
        let scanned = try Integer(bytes: bytes)
        // Not by its flag: libgcrypt 1.10 then forgets the size of the memory, and aborts for zero.
        let secret = try Integer(bits: UInt32(clamping: scanned.bits + 64), in: .locked)
        gcry_mpi_add_ui(secret.value, scanned.value, 0)
        self = secret
    }

    init(hexadecimal digits: StaticString) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var scanned: gcry_mpi_t?
        try check(gcry_mpi_scan(&scanned, GCRYMPI_FMT_HEX, digits.utf8Start, 0, nil), "read an integer")
        guard let scanned else {
            throw GcryptError(.operationFailed, reason: "read an integer: no value")
        }
        value = scanned
    }

    /// Creates a zero with room for a number of bits.
    init(bits: UInt32, in memory: SecureBytes.Memory) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        guard let value = memory == .locked ? gcry_mpi_snew(bits) : gcry_mpi_new(bits) else {
            let code: GcryptError.Code = memory == .locked ? .outOfLockedMemory : .outOfMemory
            throw GcryptError(code, reason: "no memory for an integer of \(bits) bits")
        }
        self.value = value
    }

    deinit {
        gcry_mpi_release(value)
    }

    /// The closure must not keep the integer.
    borrowing func withHandle<Result>(_ body: (gcry_mpi_t) -> Result) -> Result {
        body(value)
    }

    /// The number of bytes without leading zeros.
    var size: Int { (Int(gcry_mpi_get_nbits(value)) + 7) / 8 }

    /// The number of bits without leading zeros.
    var bits: Int { Int(gcry_mpi_get_nbits(value)) }

    private var memory: SecureBytes.Memory {
        gcry_mpi_get_flag(value, GCRYMPI_FLAG_SECURE) == 0 ? .ordinary : .locked
    }

    borrowing func isLess(than number: UInt) -> Bool {
        gcry_mpi_cmp_ui(value, number) < 0
    }

    borrowing func isLess(than other: borrowing Integer) -> Bool {
        gcry_mpi_cmp(value, other.value) < 0
    }

    borrowing func minusOne() throws(GcryptError) -> Integer {
        let difference = try Integer(bits: gcry_mpi_get_nbits(value), in: memory)
        gcry_mpi_sub_ui(difference.value, value, 1)
        return difference
    }

    borrowing func power(
        _ exponent: borrowing Integer,
        modulo modulus: borrowing Integer,
        in memory: SecureBytes.Memory
    ) throws(GcryptError) -> Integer {
        let result = try Integer(bits: gcry_mpi_get_nbits(modulus.value), in: memory)
        gcry_mpi_powm(result.value, value, exponent.value, modulus.value)
        return result
    }

    /// Writes the integer to a buffer, left-padded with zeros.
    borrowing func write(to buffer: UnsafeMutableRawBufferPointer) throws(GcryptError) {
        guard size <= buffer.count else {
            throw GcryptError(.operationFailed, reason: "the integer has \(size) bytes, the buffer \(buffer.count)")
        }
        let padding = buffer.count - size
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<padding]).initializeMemory(as: UInt8.self, repeating: 0)
        guard size > 0, let base = buffer.baseAddress else { return }
        let start = (base + padding).assumingMemoryBound(to: UInt8.self)
        try check(gcry_mpi_print(GCRYMPI_FMT_USG, start, size, nil, value), "write an integer")
    }
}

extension Integer {
    /// Reads an unsigned integer, most significant byte first.
    init(_ bytes: [UInt8]) throws(GcryptError) {
        self = try bytes.span.withUnsafeBytes { (bytes) throws(GcryptError) in try Integer(bytes: bytes) }
    }

    borrowing func isEqual(to other: borrowing Integer) -> Bool {
        !isLess(than: other) && !other.isLess(than: self)
    }

    borrowing func times(_ other: borrowing Integer) throws(GcryptError) -> Integer {
        let product = try Integer(bits: UInt32(clamping: (size + other.size) * 8), in: memory)
        withHandle { left in
            other.withHandle { right in
                product.withHandle { product in gcry_mpi_mul(product, left, right) }
            }
        }
        return product
    }

    /// The remainder of division by a non-zero number.
    borrowing func remainder(of divisor: borrowing Integer) throws(GcryptError) -> Integer {
        guard !divisor.isLess(than: 1) else { throw GcryptError(.invalidParameters, reason: "division by zero") }
        let remainder = try Integer(bits: UInt32(clamping: divisor.size * 8), in: memory)
        withHandle { dividend in
            divisor.withHandle { divisor in
                remainder.withHandle { remainder in gcry_mpi_mod(remainder, dividend, divisor) }
            }
        }
        return remainder
    }

    /// The bytes in a memory of their own, left-padded with zeros to a size.
    borrowing func secureBytes(count: Int, in memory: SecureBytes.Memory) throws(GcryptError) -> SecureBytes {
        var bytes = try SecureBytes(count: count, in: memory)
        try bytes.withUnsafeMutableBytes { (bytes) throws(GcryptError) in try write(to: bytes) }
        return bytes
    }

    /// The bytes without leading zeros, most significant first.
    borrowing func bytes() throws(GcryptError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        try write(to: &bytes)
        return bytes
    }

    borrowing func write(to bytes: inout [UInt8]) throws(GcryptError) {
        var failure: GcryptError?
        bytes.withUnsafeMutableBytes { bytes in
            do throws(GcryptError) {
                try write(to: bytes)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
