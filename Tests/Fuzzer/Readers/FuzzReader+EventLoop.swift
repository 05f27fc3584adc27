import Dispatch
import KeychaindDBus
import Synchronization

extension FuzzReader {
    /// Runs `body` on the event loop, and waits for it; throws what it throws.
    static func onEventLoop(_ body: @escaping @BusActor @Sendable () async throws -> Void) throws {
        EventLoop.startThread()
        let end = DispatchSemaphore(value: 0)
        let refusal = Mutex<(any Error)?>(nil)
        Task { @BusActor in
            do {
                try await body()
            } catch {
                refusal.withLock { refusal in refusal = error }
            }
            end.signal()
        }
        end.wait()
        if let refusal = refusal.withLock({ refusal in refusal }) { throw refusal }
    }
}
