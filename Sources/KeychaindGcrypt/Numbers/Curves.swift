import CKeychaindGcrypt

struct WeierstrassCurve: ~Copyable {
    private let context: gcry_ctx_t

    init(_ curve: PrimeCurve) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var context: gcry_ctx_t?
        let name = UnsafeRawPointer(curve.name.utf8Start).assumingMemoryBound(to: CChar.self)
        try check(gcry_mpi_ec_new(&context, nil, name), "set up a curve")
        guard let context else { throw GcryptError(.operationFailed, reason: "set up a curve: no context") }
        self.context = context
    }

    deinit {
        gcry_ctx_release(context)
    }

    /// Whether the coordinates are those of a point on the curve.
    borrowing func contains(x: borrowing Integer, y: borrowing Integer) throws(GcryptError) -> Bool {
        let prime = try parameter("p")
        guard x.isLess(than: prime), y.isLess(than: prime) else { return false }
        let one = try Integer(hexadecimal: "01")
        return try withPoint { point in
            x.withHandle { x in
                y.withHandle { y in
                    one.withHandle { one in _ = gcry_mpi_point_set(point, x, y, one) }
                }
            }
            return gcry_mpi_ec_curve_point(point, context) != 0
        }
    }

    /// Whether a number is from one up to, but excluding, the order of the generator.
    borrowing func isScalar(_ number: borrowing Integer) throws(GcryptError) -> Bool {
        let order = try parameter("n")
        return !number.isLess(than: 1) && number.isLess(than: order)
    }

    /// Multiplies the generator by a scalar and returns the coordinates, each of the size of the field.
    borrowing func multiplyGenerator(
        by scalar: borrowing Integer,
        size: Int
    ) throws(GcryptError) -> (x: [UInt8], y: [UInt8]) {
        guard let generator = gcry_mpi_ec_get_point("g", context, 1) else {
            throw GcryptError(.operationFailed, reason: "the curve has no generator")
        }
        defer { gcry_mpi_point_release(generator) }
        let x = try Integer(bits: 528, in: .ordinary)
        let y = try Integer(bits: 528, in: .ordinary)
        let isFinite = try withPoint { product in
            scalar.withHandle { scalar in gcry_mpi_ec_mul(product, scalar, generator, context) }
            return x.withHandle { x in
                y.withHandle { y in gcry_mpi_ec_get_affine(x, y, product, context) == 0 }
            }
        }
        guard isFinite else { throw GcryptError(.operationFailed, reason: "the product is the point at infinity") }
        var coordinates = (x: [UInt8](repeating: 0, count: size), y: [UInt8](repeating: 0, count: size))
        try x.write(to: &coordinates.x)
        try y.write(to: &coordinates.y)
        return coordinates
    }

    /// Multiplies a point, which must be on the curve, by a secret scalar, and returns the coordinate x of the product.
    borrowing func multiply(
        x: borrowing Integer,
        y: borrowing Integer,
        by scalar: borrowing Integer,
        size: Int
    ) throws(GcryptError) -> SecureBytes {
        let one = try Integer(hexadecimal: "01")
        let result = try Integer(bits: 528, in: .locked)
        let isFinite = try withPoint { (point) throws(GcryptError) in
            _ = gcry_mpi_point_set(point, x.value, y.value, one.value)
            return try withPoint { product in
                gcry_mpi_ec_mul(product, scalar.value, point, context)
                return gcry_mpi_ec_get_affine(result.value, nil, product, context) == 0
            }
        }
        guard isFinite else {
            throw GcryptError(.invalidPublicKey, reason: "the product is the point at infinity")
        }
        return try result.secureBytes(count: size, in: .locked)
    }

    private func parameter(_ name: StaticString) throws(GcryptError) -> Integer {
        let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let value = gcry_mpi_ec_get_mpi(text, context, 1) else {
            throw GcryptError(.operationFailed, reason: "the curve lacks a parameter")
        }
        return Integer(taking: value)
    }

    private func withPoint<Result>(
        _ body: (gcry_mpi_point_t) throws(GcryptError) -> Result
    ) throws(GcryptError) -> Result {
        guard let point = gcry_mpi_point_new(0) else {
            throw GcryptError(.outOfMemory, reason: "no memory for a point")
        }
        defer { gcry_mpi_point_release(point) }
        return try body(point)
    }
}

/// Curve25519 in Montgomery form; libgcrypt's temporary values are on the heap, and wiped before they are freed.
struct MontgomeryCurve: ~Copyable {
    private let context: gcry_ctx_t

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

    /// Multiplies a point, given by its u-coordinate; nil for the point at infinity.
    ///
    /// For a scalar in locked memory libgcrypt uses a ladder whose steps do not depend on the scalar.
    borrowing func multiply(
        _ coordinate: borrowing Integer,
        by scalar: borrowing Integer
    ) throws(GcryptError) -> Integer? {
        guard let point = gcry_mpi_point_new(0), let product = gcry_mpi_point_new(0) else {
            throw GcryptError(.outOfMemory, reason: "no memory for a point")
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
