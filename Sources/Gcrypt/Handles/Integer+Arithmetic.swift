import CGcrypt

extension Integer {
    /// Reads an unsigned integer, most significant byte first.
    init(_ bytes: [UInt8]) throws(GcryptError) {
        self = try bytes.span.withUnsafeBytes { (bytes) throws(GcryptError) in try Integer(bytes: bytes) }
    }

    /// Whether both are the same.
    borrowing func isEqual(to other: borrowing Integer) -> Bool {
        !isLess(than: other) && !other.isLess(than: self)
    }

    /// The product of both.
    borrowing func times(_ other: borrowing Integer) throws(GcryptError) -> Integer {
        let product = try Integer(bits: UInt32(clamping: (size + other.size) * 8), in: .ordinary)
        withHandle { left in
            other.withHandle { right in
                product.withHandle { product in gcry_mpi_mul(product, left, right) }
            }
        }
        return product
    }

    /// What is left when it is divided by a number that is not zero.
    borrowing func remainder(of divisor: borrowing Integer) throws(GcryptError) -> Integer {
        guard !divisor.isLess(than: 1) else { throw GcryptError(.invalidParameters, reason: "a division by zero") }
        let remainder = try Integer(bits: UInt32(clamping: divisor.size * 8), in: .ordinary)
        withHandle { dividend in
            divisor.withHandle { divisor in
                remainder.withHandle { remainder in gcry_mpi_mod(remainder, dividend, divisor) }
            }
        }
        return remainder
    }

    /// Its bytes without leading zeros, most significant first.
    borrowing func bytes() throws(GcryptError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        try write(to: &bytes)
        return bytes
    }

    /// Writes it right-aligned to an array, with zeros before it.
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
