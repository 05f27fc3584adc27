import KeychaindDBus
import KeychaindVault

extension Dispatch {
    /// The same handling, with the client as the owner of the key derivations in it.
    @BusActor
    func deriving(for client: Client) -> Dispatch {
        guard case .suspending(let body) = self else { return self }
        let owner = DerivationOwner.client(ObjectIdentifier(client))
        return .suspending { () async throws(BusError) in
            let result: Result<Void, BusError> = await DerivationOwner.$current.withValue(owner) {
                do throws(BusError) {
                    try await body()
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
        }
    }
}
