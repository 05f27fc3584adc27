import DBus
import Testing

/// Starts the event loop before a test that is isolated to ``BusActor``, and so could never begin without it.
struct LoopTrait: SuiteTrait, TestTrait {
    var isRecursive: Bool { true }

    func prepare(for test: Test) async throws {
        EventLoop.startThread()
    }
}

extension Trait where Self == LoopTrait {
    static var onLoop: LoopTrait { LoopTrait() }
}
