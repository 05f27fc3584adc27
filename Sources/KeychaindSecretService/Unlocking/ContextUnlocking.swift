import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault

/// Unlocks objects in a context, or authorises an operation on them: with what the context has proved, or by a prompt.
@BusActor
struct ContextUnlocking {
    let action: ItemAction
    let context: AuthenticationContext
    let unlocking: Unlocking
    let largeAnswers: LargeAnswers

    private var client: Client { context.client }

    /// - Parameter skipped: the number of arguments before the list of objects.
    func answer(_ call: MethodCall, after skipped: Int = 0) async throws(BusError) {
        var reader = call.message.makeReader()
        for _ in 0..<skipped { reader.skip() }
        guard let list = try unlocking.readFewObjects(&reader) else {
            return try await answerMany(call, after: skipped)
        }
        var seen: Set<ObjectPath> = []
        var paths = list.filter { seen.insert($0).inserted }
        context.failure = nil
        if let proving = ContextProving(action, in: context, unlocking: unlocking) {
            var refused: Set<ObjectPath> = []
            for path in paths where await !proving.prove(path) { refused.insert(path) }
            try check(refused: refused.count, of: paths.count)
            paths.removeAll(where: refused.contains)
            try context.checkValid()
        }
        let (unlocked, prompt) = try unlocking.unlock(paths, to: action, for: client, in: context)
        call.reply(with: unlocked, prompt)
    }

    /// Answers a call about many objects, while other calls are handled.
    ///
    /// Proving the items may derive keys, so no large answer waits for it.
    private func answerMany(_ call: MethodCall, after skipped: Int) async throws(BusError) {
        context.failure = nil
        var list: PathList?
        try await largeAnswers.make(for: client) { () async throws(BusError) in
            var slice = largeAnswers.beginSlice()
            let limit = unlocking.limits.objectsPerCall
            list = try await PathList(of: call.message, after: skipped, limit: limit, &slice)
        }
        guard let paths = list else { return }
        let refused = try await prove(paths)
        try check(refused: refused.count, of: paths.count)
        try await largeAnswers.make(for: client) { () async throws(BusError) in
            var slice = largeAnswers.beginSlice()
            var rest = (0..<paths.count).lazy.filter { !refused.contains($0) }.makeIterator()
            try await unlocking.unlockMany(to: action, answering: call, for: client, in: context, &slice) {
                rest.next().map { paths[$0] }
            }
        }
    }

    /// Proves the items of a long list, one list of a client at a time; returns the numbers of those that are refused.
    private func prove(_ paths: PathList) async throws(BusError) -> Set<Int> {
        guard ContextProving.isPossible(action, in: context) else { return [] }
        _ = await client.longProofs.lock(for: context.number)
        defer { client.longProofs.unlock() }
        guard let proving = ContextProving(action, in: context, unlocking: unlocking) else { return [] }
        return try await largeAnswers.takeSlices { (slice) async throws(BusError) in
            var refused: Set<Int> = []
            for number in 0..<paths.count {
                await slice.yieldIfOver()
                try client.checkConnected()
                if await !proving.prove(paths[number]) { refused.insert(number) }
            }
            return refused
        }
    }

    /// Throws if the password of a program is wrong for all of the objects.
    private func check(refused: Int, of count: Int) throws(BusError) {
        guard refused == 0 || refused < count else {
            throw BusError(AuthenticationError(.authenticationFailed, reason: "the password is wrong"))
        }
    }
}
