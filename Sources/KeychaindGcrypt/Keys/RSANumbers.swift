import CKeychaindGcrypt

/// The numbers of an RSA private key (RFC 8017, section 3.2), most significant byte first, without leading zeros.
///
/// They are in ordinary memory and are not wiped, like Apple's data types that they are converted from and to.
package struct RSANumbers: Hashable, Sendable {
    package var modulus: [UInt8]
    package var publicExponent: [UInt8]
    package var privateExponent: [UInt8]
    package var prime1: [UInt8]
    package var prime2: [UInt8]
    /// The private exponent modulo the first prime less one.
    package var exponent1: [UInt8]
    /// The private exponent modulo the second prime less one.
    package var exponent2: [UInt8]
    /// The inverse of the second prime modulo the first.
    package var coefficient: [UInt8]

    /// The accepted sizes of the modulus in bits.
    package static let sizes = 512...16384

    /// The sizes of the modulus of generated keys in bits.
    package static let newSizes = [2048, 3072, 4096]

    /// Unchecked; see ``areConsistent()``.
    package init(
        modulus: [UInt8],
        publicExponent: [UInt8],
        privateExponent: [UInt8],
        primes: ([UInt8], [UInt8]),
        exponents: ([UInt8], [UInt8]),
        coefficient: [UInt8]
    ) {
        self.modulus = modulus
        self.publicExponent = publicExponent
        self.privateExponent = privateExponent
        (prime1, prime2) = primes
        (exponent1, exponent2) = exponents
        self.coefficient = coefficient
    }

    /// Takes up to seconds.
    ///
    /// - Parameter bits: one of ``newSizes``.
    package init(bits: Int) throws(GcryptError) {
        guard Self.newSizes.contains(bits) else {
            throw GcryptError(.invalidParameters, reason: "RSA keys cannot have \(bits) bits")
        }
        let made = try Expression(generating: "(genkey (rsa (nbits 4:\(bits))))")
        let key = try made.list("private-key")
        let exponent = try key.number("d")
        // libgcrypt orders the primes the other way: its coefficient is the inverse of the first.
        let prime1 = try key.number("q")
        let prime2 = try key.number("p")
        self.init(
            modulus: try key.number("n").bytes(),
            publicExponent: try key.number("e").bytes(),
            privateExponent: try exponent.bytes(),
            primes: (try prime1.bytes(), try prime2.bytes()),
            exponents: (
                try exponent.remainder(of: try prime1.minusOne()).bytes(),
                try exponent.remainder(of: try prime2.minusOne()).bytes()
            ),
            coefficient: try key.number("u").bytes()
        )
    }

    /// Whether the numbers fit together; does not test the primes for primality.
    package func areConsistent() throws(GcryptError) -> Bool {
        let numbers = [
            modulus, publicExponent, privateExponent, prime1, prime2, exponent1, exponent2, coefficient,
        ]
        guard numbers.allSatisfy({ $0.count <= Self.sizes.upperBound / 8 }) else { return false }
        let e = try Integer(publicExponent)
        let d = try Integer(privateExponent)
        let p = try Integer(prime1)
        let q = try Integer(prime2)
        guard !p.isLess(than: 3), !q.isLess(than: 3), !e.isLess(than: 3) else { return false }
        guard try p.times(q).isEqual(to: Integer(modulus)) else { return false }
        let product = try d.times(e)
        guard try isInverse(product, d, exponent1, p), try isInverse(product, d, exponent2, q) else { return false }
        return try Integer(coefficient).times(q).remainder(of: p).isOne
    }

    /// Whether the exponents are inverse modulo a prime less one.
    private func isInverse(
        _ product: borrowing Integer,
        _ privateExponent: borrowing Integer,
        _ reduced: [UInt8],
        _ prime: borrowing Integer
    ) throws(GcryptError) -> Bool {
        let order = try prime.minusOne()
        guard try product.remainder(of: order).isOne else { return false }
        return try privateExponent.remainder(of: order).isEqual(to: Integer(reduced))
    }
}

extension Integer {
    fileprivate var isOne: Bool { !isLess(than: 1) && isLess(than: 2) }
}

/// A libgcrypt S-expression, released on deinit.
struct Expression: ~Copyable {
    private let handle: gcry_sexp_t

    private init(taking handle: gcry_sexp_t) {
        self.handle = handle
    }

    /// - Parameter parameters: an S-expression.
    init(generating parameters: String) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var read: gcry_sexp_t?
        try check(gcry_sexp_new(&read, parameters, parameters.utf8.count, 1), "read parameters of a key")
        defer { gcry_sexp_release(read) }
        var made: gcry_sexp_t?
        try check(gcry_pk_genkey(&made, read), "generate a key", locked: true)
        guard let made else { throw GcryptError(.operationFailed, reason: "generate a key: no key") }
        handle = made
    }

    deinit {
        gcry_sexp_release(handle)
    }

    borrowing func list(_ name: StaticString) throws(GcryptError) -> Expression {
        let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let found = gcry_sexp_find_token(handle, text, name.utf8CodeUnitCount) else {
            throw GcryptError(.operationFailed, reason: "the S-expression has no \(name)")
        }
        return Expression(taking: found)
    }

    borrowing func number(_ name: StaticString) throws(GcryptError) -> Integer {
        let pair = try list(name)
        guard let value = gcry_sexp_nth_mpi(pair.handle, 1, Int32(GCRYMPI_FMT_USG.rawValue)) else {
            throw GcryptError(.operationFailed, reason: "the S-expression has no number after \(name)")
        }
        return Integer(taking: value)
    }
}
