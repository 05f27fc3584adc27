import DBus

/// An object that cannot be asked yet: the vault is being opened, or a key it needs is being derived.
///
/// A program that is told "locked" or "nothing there" at login believes that it is logged out, and overwrites its keys. So its
/// call waits, for a bounded time.
struct SettlingTarget: ObjectTarget {
    let provider: Provider
    let path: SecretPath

    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        .suspending { () async throws(BusError) in
            await provider.settle(path, for: call)
            // Nobody would give back a session or a prompt that was made for a caller who left meanwhile.
            guard await provider.isPresent(call.sender) else { return }
            if case .suspending(let body) = try provider.dispatch(call, at: path) {
                try await body()
            }
        }
    }
}
