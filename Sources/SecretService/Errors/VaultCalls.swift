import DBus
import Vault

/// Runs what the vault does, and turns its errors into those of the bus.
func translatingErrors<Result: ~Copyable>(
    _ body: () throws(VaultError) -> Result
) throws(BusError) -> Result {
    do throws(VaultError) {
        return try body()
    } catch {
        throw BusError(error)
    }
}

/// Runs what the vault does and waits for, and turns its errors into those of the bus.
@BusActor
func translatingErrors<Result: ~Copyable>(
    _ body: () async throws(VaultError) -> Result
) async throws(BusError) -> Result {
    do throws(VaultError) {
        return try await body()
    } catch {
        throw BusError(error)
    }
}
