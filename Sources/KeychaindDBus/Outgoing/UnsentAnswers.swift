/// The bytes of answers to one program that wait to be sent.
///
/// Bound to no actor, so that messages count themselves out on deinit; it lives in the isolation that created it.
package final class UnsentAnswers {
    private static let limit = 16 << 10

    private var size = 0

    package nonisolated init() {}

    /// Whether its next calls wait until some are sent.
    var isMuch: Bool { size >= UnsentAnswers.limit }

    func add(_ size: Int) {
        self.size += size
    }

    func remove(_ size: Int) {
        self.size -= size
    }
}
