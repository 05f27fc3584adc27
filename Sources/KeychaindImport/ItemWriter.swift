import KeychaindForeignFiles
import KeychaindGcrypt
package import SecretServiceClient
import Synchronization

/// Writes items into a keychain, with many calls in flight, which keychaind then commits together.
package struct ItemWriter: Sendable {
    let collection: SecretCollection
    let prompting: SecretPrompting
    let keepsTimes: Bool
    let progress: @Sendable (Int) -> Void

    /// Calls in flight: two commits of keychaind, one that is written and one that gathers.
    private static let window = 256

    /// - Parameters:
    ///   - prompting: how a person may be asked, as for the password of an item.
    ///   - keepsTimes: whether the items get the times of their originals; some providers refuse that.
    package init(
        collection: SecretCollection,
        prompting: SecretPrompting = .never,
        keepsTimes: Bool = true,
        progress: @escaping @Sendable (Int) -> Void
    ) {
        self.collection = collection
        self.prompting = prompting
        self.keepsTimes = keepsTimes
        self.progress = progress
    }

    /// An item to write.
    package struct Task: Sendable {
        let item: ImportedItem
        /// The item that it takes the place of; nil for none.
        var replaced: DifferingItem?

        package init(item: ImportedItem, replaced: DifferingItem? = nil) {
            self.item = item
            self.replaced = replaced
        }
    }

    package struct Outcome: Sendable {
        /// Items that keychaind has acknowledged, with their references there.
        package var written: [(item: ImportedItem, reference: SecretItem)] = []
        /// Items that keychaind refused, with its reason.
        package var refused: [(item: ImportedItem, reason: String)] = []
        /// What ended the import early; nil if nothing did.
        package var failure: SecretServiceError?
    }

    /// Writes the items in order.
    ///
    /// After a cancellation or failure no further call is sent, but those in flight are awaited: what keychaind has
    /// acknowledged is counted.
    package func write(_ tasks: [Task]) async -> Outcome {
        let stop = Stop()
        return await withTaskCancellationHandler {
            // A task of its own, since a cancelled one does not wait for answers.
            await _Concurrency.Task { await run(tasks, stop) }.value
        } onCancel: {
            stop.set()
        }
    }

    private func run(_ tasks: [Task], _ stop: Stop) async -> Outcome {
        var outcome = Outcome()
        await withTaskGroup(of: (Task, Result<SecretItem, SecretServiceError>).self) { group in
            var rest = tasks[...]
            for task in rest.prefix(ItemWriter.window) { group.addTask { (task, await write(task)) } }
            rest = rest.dropFirst(ItemWriter.window)
            while let (task, result) = await group.next() {
                switch result {
                case .success(let reference):
                    outcome.written.append((task.item, reference))
                    progress(1)
                case .failure(let error) where ItemWriter.concernsItem(error):
                    outcome.refused.append((task.item, error.reason))
                case .failure(let error):
                    outcome.failure = outcome.failure ?? error
                }
                guard outcome.failure == nil, !stop.isSet, let task = rest.popFirst() else { continue }
                group.addTask { (task, await write(task)) }
            }
        }
        return outcome
    }

    /// Whether keychaind refuses this item, and may take others.
    static func concernsItem(_ error: SecretServiceError) -> Bool {
        switch error.code {
        case .invalidArguments, .limitExceeded, .notSupported, .interactionNotAllowed, .accessDenied: true
        default: false
        }
    }

    private func write(_ task: Task) async -> Result<SecretItem, SecretServiceError> {
        do throws(SecretServiceError) {
            let item = task.item
            let replacing = task.replaced?.isReplaceable ?? false
            let created = try await collection.createItem(
                label: item.item.label,
                attributes: item.item.attributes,
                secret: try Secret(copyOf: item),
                created: keepsTimes ? item.item.created : nil,
                modified: keepsTimes ? item.item.modified : nil,
                replacing: replacing,
                prompting: prompting
            )
            // Among several items with these attributes the right one goes, after the new one is there.
            if let old = task.replaced, !replacing { try await old.present.reference?.delete(prompting: .never) }
            return .success(created)
        } catch {
            return .failure(error)
        }
    }
}

extension Secret {
    init(copyOf item: ImportedItem) throws(SecretServiceError) {
        let contentType = item.item.contentType
        self = try item.item.secret.withUnsafeBytes { (bytes) throws(SecretServiceError) in
            try Secret(copying: bytes, contentType: contentType)
        }
    }
}

private final class Stop: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
