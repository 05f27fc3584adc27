import CGcrypt

extension GcryptError {
    /// What libgcrypt reported of an operation.
    ///
    /// - Parameter locked: whether the operation takes its memory from the locked pool, so that its want of memory is named.
    init(_ result: gcry_error_t, _ operation: StaticString, locked: Bool = false) {
        let isOutOfMemory = gcry_err_code(result) == GPG_ERR_ENOMEM
        let code: Code =
            switch (isOutOfMemory, locked) {
            case (true, true): .outOfLockedMemory
            case (true, false): .outOfMemory
            case (false, _): .operationFailed
            }
        self.init(code, reason: "\(operation): \(String(cString: gcry_strerror(result)))")
    }
}

/// Throws what libgcrypt reported, if it reported a failure.
func check(_ result: gcry_error_t, _ operation: StaticString, locked: Bool = false) throws(GcryptError) {
    if result != 0 { throw GcryptError(result, operation, locked: locked) }
}
