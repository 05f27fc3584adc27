import DBus
import Gcrypt

extension BusError {
    /// What a caller is told when cryptography failed: their mistake, or that it failed.
    init(_ error: GcryptError) {
        switch error.code {
        case .invalidPublicKey, .invalidCiphertext:
            self.init(.invalidArguments, error.reason)
        default:
            self.init(.failed, "cryptography failed: \(error.code)")
        }
    }
}
