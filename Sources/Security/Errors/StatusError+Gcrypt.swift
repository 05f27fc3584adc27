import Gcrypt

extension StatusError {
    /// What a cryptographic operation has failed with.
    init(_ error: GcryptError) {
        let isOutOfMemory = error.code == .outOfMemory || error.code == .outOfLockedMemory
        self.init(isOutOfMemory ? errSecAllocate : errSecInternalError, error.reason)
    }

    /// Runs an operation whose failures are not the caller's.
    static func translating<Result>(_ operation: () throws(GcryptError) -> Result) throws(StatusError) -> Result {
        do throws(GcryptError) {
            return try operation()
        } catch {
            throw StatusError(error)
        }
    }
}
