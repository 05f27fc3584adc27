import CKeychaindGcrypt

/// An RSA private key (RFC 8017, section 3.2) in locked memory, as far as there is room.
package struct RSAPrivateKey: ~Copyable {
    /// The numbers, in the order of PKCS #1.
    package enum Number: Int, CaseIterable, Sendable {
        case modulus, publicExponent, privateExponent, prime1, prime2
        /// The private exponent modulo the first prime less one.
        case exponent1
        /// The private exponent modulo the second prime less one.
        case exponent2
        /// The inverse of the second prime modulo the first.
        case coefficient
    }

    /// The accepted sizes of the modulus in bits.
    package static let sizes = 512...16384

    /// The sizes of the modulus of generated keys in bits.
    package static let newSizes = [2048, 3072, 4096]

    private let modulus: Integer
    private let publicExponent: Integer
    private let privateExponent: Integer
    private let prime1: Integer
    private let prime2: Integer
    private let exponent1: Integer
    private let exponent2: Integer
    private let coefficient: Integer

    /// Reads the numbers, most significant byte first; they are not checked, see ``isConsistent()``.
    ///
    /// Throws ``GcryptError/Code/invalidParameters`` for a number of more than 16384 bits.
    package init(_ bytes: (Number) -> UnsafeRawBufferPointer) throws(GcryptError) {
        for number in Number.allCases where bytes(number).count > Self.sizes.upperBound / 8 {
            throw GcryptError(.invalidParameters, reason: "the \(number) of the RSA key is too long")
        }
        let modulus = try Integer(bytes: bytes(.modulus))
        let publicExponent = try Integer(bytes: bytes(.publicExponent))
        let privateExponent = try Integer(secret: bytes(.privateExponent))
        let prime1 = try Integer(secret: bytes(.prime1))
        let prime2 = try Integer(secret: bytes(.prime2))
        let exponent1 = try Integer(secret: bytes(.exponent1))
        let exponent2 = try Integer(secret: bytes(.exponent2))
        let coefficient = try Integer(secret: bytes(.coefficient))
        self.modulus = modulus
        self.publicExponent = publicExponent
        self.privateExponent = privateExponent
        self.prime1 = prime1
        self.prime2 = prime2
        self.exponent1 = exponent1
        self.exponent2 = exponent2
        self.coefficient = coefficient
    }

    /// Generates a key; takes up to seconds.
    ///
    /// - Parameter bits: one of ``newSizes``.
    package init(bits: Int) throws(GcryptError) {
        guard Self.newSizes.contains(bits) else {
            throw GcryptError(.invalidParameters, reason: "RSA keys cannot have \(bits) bits")
        }
        let parameters = try Expression(parsing: "(genkey (rsa (nbits 4:\(bits))))")
        var made: gcry_sexp_t?
        let result = parameters.withHandle { gcry_pk_genkey(&made, $0) }
        try check(result, "generate a key", locked: true)
        guard let made else { throw GcryptError(.operationFailed, reason: "generate a key: no key") }
        let key = try Expression(taking: made).list("private-key")
        let modulus = try key.number("n")
        let publicExponent = try key.number("e")
        let privateExponent = try key.number("d")
        // libgcrypt orders the primes the other way: its coefficient is the inverse of the first.
        let prime1 = try key.number("q")
        let prime2 = try key.number("p")
        let exponent1 = try privateExponent.remainder(of: try prime1.minusOne())
        let exponent2 = try privateExponent.remainder(of: try prime2.minusOne())
        let coefficient = try key.number("u")
        self.modulus = modulus
        self.publicExponent = publicExponent
        self.privateExponent = privateExponent
        self.prime1 = prime1
        self.prime2 = prime2
        self.exponent1 = exponent1
        self.exponent2 = exponent2
        self.coefficient = coefficient
    }

    /// The bytes of a number, most significant first, without leading zeros.
    package borrowing func bytes(of number: Number) throws(GcryptError) -> SecureBytes {
        switch number {
        case .modulus: try RSAPrivateKey.bytes(modulus)
        case .publicExponent: try RSAPrivateKey.bytes(publicExponent)
        case .privateExponent: try RSAPrivateKey.bytes(privateExponent)
        case .prime1: try RSAPrivateKey.bytes(prime1)
        case .prime2: try RSAPrivateKey.bytes(prime2)
        case .exponent1: try RSAPrivateKey.bytes(exponent1)
        case .exponent2: try RSAPrivateKey.bytes(exponent2)
        case .coefficient: try RSAPrivateKey.bytes(coefficient)
        }
    }

    /// Whether the numbers fit together; does not test the primes for primality.
    package borrowing func isConsistent() throws(GcryptError) -> Bool {
        guard !prime1.isLess(than: 3), !prime2.isLess(than: 3), !publicExponent.isLess(than: 3) else { return false }
        guard try prime1.times(prime2).isEqual(to: modulus) else { return false }
        let product = try privateExponent.times(publicExponent)
        guard try isInverse(product, exponent1, prime1), try isInverse(product, exponent2, prime2) else {
            return false
        }
        return try coefficient.times(prime2).remainder(of: prime1).isOne
    }

    /// Computes x to the power of the private exponent, modulo the modulus, of the size of the modulus.
    ///
    /// The computation is blinded, and its result is checked with the public exponent: a fault in one half of it would
    /// reveal a prime. Throws ``GcryptError/Code/invalidParameters`` unless x is less than the modulus.
    package borrowing func power(of x: UnsafeRawBufferPointer) throws(GcryptError) -> SecureBytes {
        let base = try Integer(secret: x)
        guard base.isLess(than: modulus) else {
            throw GcryptError(.invalidParameters, reason: "the number is not less than the modulus of the RSA key")
        }
        let key = try Expression(
            "(private-key(rsa(n %m)(e %m)(d %m)(p %m)(q %m)(u %m)))",
            // libgcrypt's order of the primes, as above.
            [
                modulus.value, publicExponent.value, privateExponent.value, prime2.value, prime1.value,
                coefficient.value,
            ]
        )
        let power = try RSAPrivateKey.power(of: base, key)
        guard try power.power(publicExponent, modulo: modulus, in: .locked).isEqual(to: base) else {
            throw GcryptError(.operationFailed, reason: "the result with the RSA key is wrong")
        }
        return try power.secureBytes(count: modulus.size, in: .ordinary)
    }

    private static func power(of base: borrowing Integer, _ key: borrowing Expression) throws(GcryptError) -> Integer {
        let data = try Expression("(enc-val(flags raw)(rsa(a %m)))", [base.value])
        var result: gcry_sexp_t?
        let failure = data.withHandle { data in key.withHandle { key in gcry_pk_decrypt(&result, data, key) } }
        try check(failure, "use an RSA key", locked: true)
        guard let result else { throw GcryptError(.operationFailed, reason: "use an RSA key: no result") }
        return try Expression(taking: result).number("value")
    }

    private static func bytes(_ number: borrowing Integer) throws(GcryptError) -> SecureBytes {
        try number.secureBytes(count: number.size, in: .ordinary)
    }

    /// Whether the exponents are inverse modulo a prime less one.
    private borrowing func isInverse(
        _ product: borrowing Integer,
        _ reduced: borrowing Integer,
        _ prime: borrowing Integer
    ) throws(GcryptError) -> Bool {
        let order = try prime.minusOne()
        guard try product.remainder(of: order).isOne else { return false }
        return try privateExponent.remainder(of: order).isEqual(to: reduced)
    }
}

extension Integer {
    fileprivate var isOne: Bool { !isLess(than: 1) && isLess(than: 2) }
}

/// An RSA public key.
package struct RSAPublicKey: ~Copyable {
    private let modulus: Integer
    private let exponent: Integer

    /// Reads the numbers, most significant byte first.
    package init(modulus: [UInt8], exponent: [UInt8]) throws(GcryptError) {
        let number = try Integer(modulus)
        let power = try Integer(exponent)
        self.modulus = number
        self.exponent = power
    }

    /// Computes x to the power of the public exponent, modulo the modulus, of the size of the modulus.
    ///
    /// Throws ``GcryptError/Code/invalidParameters`` unless x is less than the modulus.
    package borrowing func power(of x: UnsafeRawBufferPointer) throws(GcryptError) -> [UInt8] {
        let base = try Integer(bytes: x)
        guard base.isLess(than: modulus) else {
            throw GcryptError(.invalidParameters, reason: "the number is not less than the modulus of the RSA key")
        }
        let power = try base.power(exponent, modulo: modulus, in: .ordinary)
        return try [UInt8](capacity: modulus.size) { (output) throws(GcryptError) in try power.write(to: output) }
    }
}
