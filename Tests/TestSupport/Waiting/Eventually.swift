/// Asks again and again until something is so; for what tells nobody when it comes about.
///
/// Throws ``WaitError/timedOut(_:)`` when it is not so in time.
///
/// - Parameter what: names it in the error.
package func eventually(
    _ what: String,
    within limit: Duration = Patience.limit,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw WaitError.timedOut(what) }
        // Between two looks, so that others get the processor: nothing is taken to have happened by then.
        try await Task.sleep(for: .milliseconds(5))
    }
}
