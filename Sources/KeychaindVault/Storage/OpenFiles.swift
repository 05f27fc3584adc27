import Synchronization

/// Counts the open files of a vault's collections, so that those without work close theirs when there are many.
///
/// SQLite takes three descriptors for each.
final class OpenFiles: Sendable {
    /// The most files that stay open without work.
    private static let resting = 32
    /// The number from which a file closes after its work, without a pause.
    private static let busy = 64

    private let count = Atomic(0)

    /// Whether a file should close in a pause.
    var areMany: Bool { count.load(ordering: .relaxed) > OpenFiles.resting }

    /// Whether a file should close at once.
    var areTooMany: Bool { count.load(ordering: .relaxed) > OpenFiles.busy }

    func opened() { count.add(1, ordering: .relaxed) }

    func closed() { count.subtract(1, ordering: .relaxed) }
}
