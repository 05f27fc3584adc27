import KeychaindDBus
import KeychaindVault

extension ItemObject {
    /// Dispatches a call, some after a person was asked.
    @BusActor
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard asksBeforeProperties(call) else { return try ItemObject.kind.dispatch(call, on: self) }
        return .suspending { () async throws(BusError) in
            await reads.ask(for: id, in: collection, by: client)
            try client.checkConnected()
            // Meanwhile it may have been deleted, or a person may have limited the program.
            guard collection.contains(id), client.sees(id, in: collection) else {
                throw BusError(.noSuchObject, "there is no item \(id)")
            }
            try await ItemObject.kind.dispatch(call, on: self).finish()
        }
    }

    /// Whether a program of `ask-at-read` reads all properties of an item that its search has found, but that was not
    /// unlocked since the start.
    ///
    /// libsecret's synchronous search never reads them again, and docker's helper crashes without the user name.
    @BusActor
    private func asksBeforeProperties(_ call: MethodCall) -> Bool {
        guard reads.areUseful(for: call, reading: id, in: collection), collection.created(of: id) == nil else {
            return false
        }
        return call.interface == StandardInterface.properties && call.member == "GetAll"
            && client.awaitedItems(in: collection.name).contains(id)
    }
}
