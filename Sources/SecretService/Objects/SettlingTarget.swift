import DBus

/// An object that cannot be asked yet: the vault is being opened, or a key it needs is being derived.
///
/// A program that is told "locked" or "nothing there" at login believes that it is logged out, and overwrites its keys. So its
/// call waits, for a bounded time.
struct SettlingTarget: ObjectTarget {
    let provider: Provider
    let path: SecretPath

    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        try provider.check(call, at: path)
        return .suspending { () async throws(BusError) in
            if case .suspending(let body) = try await dispatchLater(call) { try await body() }
        }
    }

    /// Dispatches the call in its turn; what it does then does not hold up the caller's next.
    private func dispatchLater(_ call: MethodCall) async throws(BusError) -> Dispatch {
        guard provider.needsKey(call, at: path) else {
            await provider.waitUntilReady()
            return try dispatchIfPresent(call)
        }
        let place = provider.settling.enter(call.sender)
        defer { provider.settling.leave(place) }
        await provider.settle(path, for: call)
        await provider.settling.takeTurn(place)
        return try dispatchIfPresent(call)
    }

    /// Nobody would give back a session or a prompt that was made for a caller who left meanwhile.
    private func dispatchIfPresent(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard provider.isPresent(call.sender) else { throw BusError(.noReply, "the caller has left the bus") }
        return try provider.dispatch(call, at: path)
    }
}
