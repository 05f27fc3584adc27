import CGcrypt

/// A libgcrypt S-expression, released with this value.
struct Expression: ~Copyable {
    private let handle: gcry_sexp_t

    private init(taking handle: gcry_sexp_t) {
        self.handle = handle
    }

    /// Makes a key by parameters that are written as an S-expression.
    init(generating parameters: String) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var read: gcry_sexp_t?
        try check(gcry_sexp_new(&read, parameters, parameters.utf8.count, 1), "read parameters of a key")
        defer { gcry_sexp_release(read) }
        var made: gcry_sexp_t?
        try check(gcry_pk_genkey(&made, read), "make a key", locked: true)
        guard let made else { throw GcryptError(.operationFailed, reason: "make a key: no key") }
        handle = made
    }

    deinit {
        gcry_sexp_release(handle)
    }

    /// The list in it that begins with a name.
    borrowing func list(_ name: StaticString) throws(GcryptError) -> Expression {
        let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let found = gcry_sexp_find_token(handle, text, name.utf8CodeUnitCount) else {
            throw GcryptError(.operationFailed, reason: "an S-expression without \(name)")
        }
        return Expression(taking: found)
    }

    /// The number that a name in it stands before.
    borrowing func number(_ name: StaticString) throws(GcryptError) -> Integer {
        let pair = try list(name)
        guard let value = gcry_sexp_nth_mpi(pair.handle, 1, Int32(GCRYMPI_FMT_USG.rawValue)) else {
            throw GcryptError(.operationFailed, reason: "an S-expression without a number after \(name)")
        }
        return Integer(taking: value)
    }
}
