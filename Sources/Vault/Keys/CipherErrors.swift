import Gcrypt

/// Runs what uses ciphers where the vault's own errors are thrown.
func cipher<Result: ~Copyable>(_ body: () throws(GcryptError) -> Result) throws(VaultError) -> Result {
    do throws(GcryptError) {
        return try body()
    } catch {
        throw VaultError(error)
    }
}
