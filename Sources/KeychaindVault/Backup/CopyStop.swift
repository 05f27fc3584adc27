import Synchronization

/// Stops the copying of a file that may be on a disk that never answers; what was copied takes no more space.
package final class CopyStop: Sendable {
    private struct State {
        var isRequested = false
        var file: String?
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes the file that is written from now on, nil for none any more; throws if a stop was requested.
    func setFile(_ file: String?) throws(VaultError) {
        state.withLock { state in state.file = file }
        try check()
    }

    /// Throws if a stop was requested.
    func check() throws(VaultError) {
        guard !state.withLock({ state in state.isRequested }) else {
            throw VaultError(.busy, reason: "the copying was stopped")
        }
    }

    /// Returns the file to empty.
    fileprivate func request() -> String? {
        state.withLock { state in
            state.isRequested = true
            return state.file
        }
    }
}

extension Vault {
    /// Stops a copying without waiting for its end.
    package func stop(_ copy: CopyStop) {
        guard let file = copy.request() else { return }
        context?.folderWorker.post { folder in folder.empty(file) }
    }
}
