import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport

/// Keeps all saved records in memory.
@BusActor
final class MemoryLockoutStore: LockoutStore {
    var record: LockoutRecord?
    /// Why nothing can be saved.
    var obstacle: LockoutObstacle?
    /// Whether loading waits for ``finishLoading()``.
    var holdsLoading = false
    let saved = Recorder<LockoutRecord>()
    private(set) var loadCount = 0
    private var loading: CheckedContinuation<Void, Never>?

    nonisolated init() {}

    func load() async -> LockoutRecord? {
        loadCount += 1
        if holdsLoading {
            await withCheckedContinuation { loading = $0 }
        }
        return record
    }

    func save(_ record: LockoutRecord) async throws(LockoutObstacle) {
        if let obstacle { throw obstacle }
        self.record = record
        saved.record(record)
    }

    func finishLoading() {
        loading?.resume()
        loading = nil
    }
}
