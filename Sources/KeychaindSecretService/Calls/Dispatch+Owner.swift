import KeychaindDBus
import KeychaindVault

extension Dispatch {
    /// Derives the keys and writes the changes of a call in the turn of its program.
    @BusActor
    func owned(by client: Client) -> Dispatch {
        guard case .suspending(let body) = self else { return self }
        let owner = WorkOwner.program(client.account)
        return .suspending { () async throws(BusError) in
            let result: Result<Void, BusError> = await WorkOwner.$current.withValue(owner) {
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
