import CKeychaindGcrypt

/// A libgcrypt S-expression, released on deinit.
struct Expression: ~Copyable {
    private let handle: gcry_sexp_t

    init(taking handle: gcry_sexp_t) {
        self.handle = handle
    }

    /// Builds an expression from a format whose every `%m` stands for one of the integers.
    ///
    /// An expression with secret integers is in locked memory. The caller borrows the integers for the time of the
    /// call.
    init(_ format: StaticString, _ integers: [gcry_mpi_t?]) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        let text = UnsafeRawPointer(format.utf8Start).assumingMemoryBound(to: CChar.self)
        var integers = integers
        var built: gcry_sexp_t?
        let result = integers.withUnsafeMutableBufferPointer { integers in
            // libgcrypt takes the addresses of the arguments.
            let first = integers.baseAddress
            var addresses = integers.indices.map { index in first.map { UnsafeMutableRawPointer($0 + index) } }
            return gcry_sexp_build_array(&built, nil, text, &addresses)
        }
        try check(result, "build an S-expression", locked: true)
        guard let built else { throw GcryptError(.operationFailed, reason: "build an S-expression: none") }
        handle = built
    }

    /// Parses an expression without secrets.
    init(parsing text: String) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var read: gcry_sexp_t?
        try check(gcry_sexp_new(&read, text, text.utf8.count, 1), "read an S-expression")
        guard let read else { throw GcryptError(.operationFailed, reason: "read an S-expression: none") }
        handle = read
    }

    deinit {
        gcry_sexp_release(handle)
    }

    /// The closure must not keep the expression.
    borrowing func withHandle<Result>(_ body: (gcry_sexp_t) -> Result) -> Result {
        body(handle)
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
