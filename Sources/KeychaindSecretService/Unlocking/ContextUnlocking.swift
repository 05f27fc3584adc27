import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault

/// Unlocks objects in a context, or authorises an operation on them: with what the context has proved, or by a prompt.
@BusActor
struct ContextUnlocking {
    let action: ItemAction
    let context: AuthenticationContext
    let unlocking: Unlocking

    private var client: Client { context.client }

    /// - Parameter skipped: the number of arguments before the list of objects.
    func answer(_ call: MethodCall, after skipped: Int = 0) async throws(BusError) {
        let limit = unlocking.limits.objectsPerCall
        let paths = try PathList(of: call.message, after: skipped, limit: limit, areDistinct: true)
        context.failure = nil
        let refused = try await prove(paths)
        try check(refused: refused.count, of: paths.count)
        try context.checkValid()
        let rest = (0..<paths.count).lazy.filter { !refused.contains($0) }.map { paths[$0] }
        let (unlocked, prompt) = try unlocking.unlock(rest, to: action, for: client, in: context)
        call.reply(with: unlocked, prompt)
    }

    /// Proves the items of a list, one list of a client at a time; returns the numbers of those that are refused.
    private func prove(_ paths: PathList) async throws(BusError) -> Set<Int> {
        context.adoptRecentProof()
        guard ContextProving.isPossible(action, in: context) else { return [] }
        _ = await client.proofs.lock(for: context.number)
        defer { client.proofs.unlock() }
        guard let proving = ContextProving(action, in: context, unlocking: unlocking) else { return [] }
        var refused: Set<Int> = []
        for number in 0..<paths.count {
            try client.checkConnected()
            if await !proving.prove(paths[number]) { refused.insert(number) }
        }
        return refused
    }

    /// Throws if the password of a program is wrong for all of the objects.
    private func check(refused: Int, of count: Int) throws(BusError) {
        guard refused == 0 || refused < count else {
            throw BusError(AuthenticationError(.authenticationFailed, reason: "the password is wrong"))
        }
    }
}
