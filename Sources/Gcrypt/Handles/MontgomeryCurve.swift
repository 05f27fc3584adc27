import CGcrypt

/// Curve25519 in Montgomery form, as libgcrypt computes with it.
///
/// What libgcrypt allocates on the way lies on the ordinary heap and is wiped by it before it is freed.
struct MontgomeryCurve: ~Copyable {
    private let context: gcry_ctx_t

    /// Sets the curve up, which takes some microseconds.
    init() throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var context: gcry_ctx_t?
        try check(gcry_mpi_ec_new(&context, nil, "Curve25519"), "set up Curve25519")
        guard let context else {
            throw GcryptError(.operationFailed, reason: "set up Curve25519: no context")
        }
        self.context = context
    }

    deinit {
        gcry_ctx_release(context)
    }

    /// The u-coordinate of a point, given by its own, times a scalar.
    ///
    /// A scalar in locked memory takes libgcrypt's ladder, whose steps do not depend on it. Nil when the product is the point at
    /// infinity.
    borrowing func multiply(
        _ coordinate: borrowing Integer,
        by scalar: borrowing Integer
    ) throws(GcryptError) -> Integer? {
        guard let point = gcry_mpi_point_new(0), let product = gcry_mpi_point_new(0) else {
            throw GcryptError(.outOfMemory, reason: "no room for a point")
        }
        defer {
            gcry_mpi_point_release(point)
            gcry_mpi_point_release(product)
        }
        let one = try Integer(hexadecimal: "01")
        coordinate.withHandle { coordinate in
            one.withHandle { one in
                _ = gcry_mpi_point_set(point, coordinate, nil, one)
            }
        }
        scalar.withHandle { scalar in gcry_mpi_ec_mul(product, scalar, point, context) }
        let result = try Integer(bits: 256, in: .locked)
        let isFinite = result.withHandle { result in gcry_mpi_ec_get_affine(result, nil, product, context) == 0 }
        guard isFinite else { return nil }
        return result
    }
}
