import KeychaindDBus
import Testing

/// Starts the event loop before tests that are isolated to ``BusActor``.
struct LoopTrait: SuiteTrait, TestTrait {
    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws {
        EventLoop.startThread()
    }
}

extension Trait where Self == LoopTrait {
    static var onLoop: LoopTrait { LoopTrait() }
}
