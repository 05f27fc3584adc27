import CGcrypt

/// The numbers of an RSA private key (RFC 8017, section 3.2), most significant byte first and without leading zeros.
///
/// They are in ordinary memory, and are not wiped: they come from, and go to, Apple's types for data, which are not either.
package struct RSANumbers: Hashable, Sendable {
    /// The product of the primes.
    package var modulus: [UInt8]
    /// The public exponent.
    package var publicExponent: [UInt8]
    /// The private exponent.
    package var privateExponent: [UInt8]
    /// The first prime.
    package var prime1: [UInt8]
    /// The second prime.
    package var prime2: [UInt8]
    /// The private exponent modulo the first prime less one.
    package var exponent1: [UInt8]
    /// The private exponent modulo the second prime less one.
    package var exponent2: [UInt8]
    /// The inverse of the second prime modulo the first.
    package var coefficient: [UInt8]

    /// The sizes of modulus, in bits, that are taken.
    package static let sizes = 512...16384

    /// The sizes of modulus, in bits, that keys are made with.
    package static let newSizes = [2048, 3072, 4096]

    /// Takes numbers as they are.
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

    /// Makes a key, which takes up to seconds.
    ///
    /// - Parameter bits: one of ``newSizes``.
    package init(bits: Int) throws(GcryptError) {
        guard Self.newSizes.contains(bits) else {
            throw GcryptError(.invalidParameters, reason: "an RSA key of \(bits) bits")
        }
        let made = try Expression(generating: "(genkey (rsa (nbits 4:\(bits))))")
        let key = try made.list("private-key")
        let exponent = try key.number("d")
        // libgcrypt has the primes the other way round: its coefficient is the inverse of the first.
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

    /// Whether the numbers belong together; that the primes are prime is not looked at.
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

    /// Whether the exponents undo each other modulo a prime less one.
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
