import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport

/// A system dialog that a test answers.
@BusActor
final class FakeSystemDialog: SystemDialog {
    @BusActor
    final class Showing: SystemAuthentication {
        let message: String
        private(set) var isCancelled = false
        private var ended: AuthenticationError??
        private var waiter: CheckedContinuation<AuthenticationError?, Never>?
        /// Whether it stays on the screen until ``vanish()``.
        var stays = false
        private var waitingForItsEnd: CheckedContinuation<Void, Never>?

        init(message: String) {
            self.message = message
        }

        func outcome() async -> AuthenticationError? {
            await withCheckedContinuation { continuation in
                if let ended { continuation.resume(returning: ended) } else { waiter = continuation }
            }
        }

        func cancel() {
            isCancelled = true
            end(AuthenticationError(.systemCancel, reason: "cancelled"))
        }

        func end(_ error: AuthenticationError?) {
            guard ended == nil else { return }
            ended = .some(error)
            waiter?.resume(returning: error)
            waiter = nil
        }

        func waitUntilGone() async {
            await withCheckedContinuation { continuation in
                if stays { waitingForItsEnd = continuation } else { continuation.resume() }
            }
        }

        func vanish() {
            stays = false
            waitingForItsEnd?.resume()
            waitingForItsEnd = nil
        }
    }

    var isThere = true
    let showings = Recorder<Showing>()

    nonisolated init() {}

    func isAvailable() async -> Bool { isThere }

    func authenticate(_ message: String) -> any SystemAuthentication {
        let showing = Showing(message: message)
        showings.record(showing)
        return showing
    }
}
