import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Finds the object of a call, and lets it answer: at once, or after a wait for the vault, its keys or the caller.
@BusActor
struct Dispatcher {
    let provider: Provider

    /// Dispatches a call.
    ///
    /// It waits until it is known who calls, until the vault is open and its keys are derived, and behind earlier calls
    /// of its client that wait for a key. Errors that do not depend on the object do not wait.
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
        guard let path = call.withPath({ SecretPath(bytes: $0) }) else { throw Dispatcher.notFound(call.path) }
        let route = Route.of(path)
        let needsKeys = route.needsKeys(call)
        guard mustWait(call, at: path, needsKeys) else { return try answer(call, at: path, by: route) }
        try route.check(call)
        return .suspending { () async throws(BusError) in
            // What the object itself waits for delays no later call.
            try await waitToAnswer(call, at: path, by: route, needsKeys).finish()
        }
    }

    private func answer(_ call: MethodCall, at path: SecretPath, by route: Route) throws(BusError) -> Dispatch {
        // Before the lookup, since a closed vault is empty.
        if let reason = provider.readiness.reasonOfEnd { throw reason }
        guard let answer = try route.answer(path, call, provider) else { throw Dispatcher.notFound(call.path) }
        return answer
    }

    private static func notFound(_ path: String) -> BusError {
        BusError(
            SecretPath.isInsideCollections(path) ? .noSuchObject : .unknownObject,
            "there is no object at \(path)"
        )
    }

    // MARK: Waiting

    private func mustWait(_ call: MethodCall, at path: SecretPath, _ needsKeys: Bool) -> Bool {
        if call.client.view.isUndecided || provider.readiness.isOpening || provider.rules.awaitsCaller(of: call.client)
        {
            return true
        }
        guard needsKeys else { return false }
        return call.client.isWaitingForKey
            || provider.vault.collections.contains(where: \.isAwaited)
                && collections(neededAt: path).contains(where: \.isAwaited)
    }

    /// Waits, and dispatches those calls of a client that need keys in order.
    private func waitToAnswer(
        _ call: MethodCall,
        at path: SecretPath,
        by route: Route,
        _ needsKeys: Bool
    ) async throws(BusError) -> Dispatch {
        let client = call.client
        if client.view.isUndecided {
            await client.decideView()
            try client.checkConnected()
        }
        guard needsKeys else {
            await provider.readiness.waitUntilOpen()
            await lookAtCaller(of: call)
            try client.checkConnected()
            return try answer(call, at: path, by: route)
        }
        return try await client.afterWaiting(
            {
                await provider.readiness.waitForKeys { collections(neededAt: path) }
                await lookAtCaller(of: call)
            },
            { () throws(BusError) in try answer(call, at: path, by: route) }
        )
    }

    /// Waits until it is known which rules are about the client: the vault had none before it was open.
    private func lookAtCaller(of call: MethodCall) async {
        if provider.rules.awaitsCaller(of: call.client) { await provider.rules.look(at: call.client) }
    }

    private func collections(neededAt path: SecretPath) -> [Collection] {
        switch path {
        case .collection(let reference), .item(let reference, _): provider.vault.find(reference).map { [$0] } ?? []
        default: provider.vault.collections
        }
    }
}
