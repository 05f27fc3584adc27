import CKeychaindGcrypt

/// ECDSA over a NIST curve (FIPS 186-5, section 6), with the nonces of RFC 6979.
package enum ECDSA {
    /// r and s, each of the size of the curve's field.
    package struct Signature: Hashable, Sendable {
        package let r: [UInt8]
        package let s: [UInt8]

        package init(r: [UInt8], s: [UInt8]) {
            self.r = r
            self.s = s
        }
    }

    /// Signs a digest of any size; of one longer than the order of the curve, the first bits count.
    package static func sign(
        _ digest: [UInt8],
        on curve: PrimeCurve,
        with scalar: borrowing SecureBytes
    ) throws(GcryptError) -> Signature {
        let key = try privateKey(curve.scalar(scalar, on: WeierstrassCurve(curve)), on: curve)
        let data = try expression(of: digest, on: curve)
        var result: gcry_sexp_t?
        let failure = data.withHandle { data in key.withHandle { key in gcry_pk_sign(&result, data, key) } }
        try check(failure, "sign", locked: true)
        guard let result else { throw GcryptError(.operationFailed, reason: "sign: no signature") }
        let signature = try Expression(taking: result).list("ecdsa")
        return Signature(
            r: try bytes(signature.number("r"), curve.size),
            s: try bytes(signature.number("s"), curve.size)
        )
    }

    /// Whether a signature is one of a digest by the private key of a public key, which must be a point on the curve.
    package static func isValid(
        _ signature: Signature,
        of digest: [UInt8],
        on curve: PrimeCurve,
        by publicKey: [UInt8]
    ) throws(GcryptError) -> Bool {
        // No number of a valid signature is longer; libgcrypt checks their range.
        guard signature.r.count <= curve.size, signature.s.count <= curve.size else { return false }
        let key = try publicKeyExpression(Integer(publicKey), on: curve)
        let data = try expression(of: digest, on: curve)
        let numbers = try expression(Integer(signature.r), Integer(signature.s))
        let result = key.withHandle { key in
            data.withHandle { data in numbers.withHandle { numbers in gcry_pk_verify(numbers, data, key) } }
        }
        if gcry_err_code(result) == GPG_ERR_BAD_SIGNATURE { return false }
        try check(result, "verify a signature")
        return true
    }

    private static func bytes(_ number: borrowing Integer, _ size: Int) throws(GcryptError) -> [UInt8] {
        try [UInt8](capacity: size) { (output) throws(GcryptError) in try number.write(to: output) }
    }

    private static func privateKey(
        _ scalar: borrowing Integer,
        on curve: PrimeCurve
    ) throws(GcryptError) -> Expression {
        switch curve {
        case .p256: try Expression("(private-key(ecc(curve\"NIST P-256\")(d %m)))", [scalar.value])
        case .p384: try Expression("(private-key(ecc(curve\"NIST P-384\")(d %m)))", [scalar.value])
        case .p521: try Expression("(private-key(ecc(curve\"NIST P-521\")(d %m)))", [scalar.value])
        }
    }

    private static func publicKeyExpression(
        _ point: borrowing Integer,
        on curve: PrimeCurve
    ) throws(GcryptError) -> Expression {
        switch curve {
        case .p256: try Expression("(public-key(ecc(curve\"NIST P-256\")(q %m)))", [point.value])
        case .p384: try Expression("(public-key(ecc(curve\"NIST P-384\")(q %m)))", [point.value])
        case .p521: try Expression("(public-key(ecc(curve\"NIST P-521\")(q %m)))", [point.value])
        }
    }

    private static func expression(_ r: borrowing Integer, _ s: borrowing Integer) throws(GcryptError) -> Expression {
        try Expression("(sig-val(ecdsa(r %m)(s %m)))", [r.value, s.value])
    }

    /// The digest as libgcrypt's data to sign: with the hash function for the nonce if one has digests of that size,
    /// otherwise as a number, with a random nonce.
    private static func expression(of digest: [UInt8], on curve: PrimeCurve) throws(GcryptError) -> Expression {
        guard let hash = HashFunction.allCases.first(where: { $0.size == digest.count }) else {
            return try expression(ofValue: Integer(digest, firstBits: curve.bits))
        }
        return try expression(of: Integer(opaque: digest), hash)
    }

    private static func expression(ofValue value: borrowing Integer) throws(GcryptError) -> Expression {
        try Expression("(data(flags raw)(value %m))", [value.value])
    }

    private static func expression(
        of digest: borrowing Integer,
        _ hash: HashFunction
    ) throws(GcryptError) -> Expression {
        switch hash {
        case .sha1: try Expression("(data(flags raw rfc6979)(hash sha1 %m))", [digest.value])
        case .sha224: try Expression("(data(flags raw rfc6979)(hash sha224 %m))", [digest.value])
        case .sha256: try Expression("(data(flags raw rfc6979)(hash sha256 %m))", [digest.value])
        case .sha384: try Expression("(data(flags raw rfc6979)(hash sha384 %m))", [digest.value])
        case .sha512: try Expression("(data(flags raw rfc6979)(hash sha512 %m))", [digest.value])
        }
    }
}

extension Integer {
    /// Bytes that libgcrypt keeps as they are.
    fileprivate init(opaque bytes: [UInt8]) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        guard let value = gcry_mpi_set_opaque_copy(nil, bytes, UInt32(clamping: bytes.count * 8)) else {
            throw GcryptError(.outOfMemory, reason: "no memory for \(bytes.count) bytes")
        }
        self.init(taking: value)
    }

    /// The number in the first bits of some bytes.
    fileprivate init(_ bytes: [UInt8], firstBits count: Int) throws(GcryptError) {
        let first = Array(bytes.prefix((count + 7) / 8))
        try self.init(first)
        if first.count * 8 > count { gcry_mpi_rshift(value, value, UInt32(first.count * 8 - count)) }
    }
}
