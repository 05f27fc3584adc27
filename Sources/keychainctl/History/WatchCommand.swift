import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct WatchCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show changes of keychains and items as they happen, until Ctrl-C."
    )

    @OptionGroup var format: JSONArguments

    func run(_ provider: ProviderAccess) async throws {
        for await change in try await provider.client.changes() {
            let event = Event(change)
            let label = await event.label()
            try provider.output.line(format.json ? event.json(label) : event.line(label))
            try provider.output.flush()
        }
        try Task.checkCancellation()
        throw CommandFailure(.noProvider, "the bus ended")
    }

    /// A change, and the object that changed.
    private struct Event {
        let name: String
        let collection: SecretCollection?
        let item: SecretItem?
        let time = UInt64(clamping: Glibc.time(nil))

        init(_ change: SecretChange) {
            var collection: SecretCollection?
            var item: SecretItem?
            switch change {
            case .collectionCreated(let changed): (name, collection) = ("keychain-created", changed)
            case .collectionChanged(let changed): (name, collection) = ("keychain-changed", changed)
            case .collectionDeleted(let changed): (name, collection) = ("keychain-deleted", changed)
            case .itemCreated(let changed): (name, item) = ("item-created", changed)
            case .itemChanged(let changed): (name, item) = ("item-changed", changed)
            case .itemDeleted(let changed): (name, item) = ("item-deleted", changed)
            case .providerChanged: name = "provider-changed"
            case .missed: name = "changes-missed"
            }
            self.collection = collection
            self.item = item
        }

        var path: String? { collection?.path ?? item?.path }

        /// Nil if there is none, or the object was deleted.
        func label() async -> String? {
            if let collection { return try? await collection.label() }
            return try? await item?.label()
        }

        func line(_ label: String?) -> String {
            let place = path.map { $0.split(separator: "/").suffix(item == nil ? 1 : 2).joined(separator: "/").visible }
            return [Time.second(time), name, place ?? "", label?.visible ?? ""].joined(separator: "\t")
        }

        func json(_ label: String?) -> String {
            let path = path.map(JSON.string) ?? "null"
            let label = label.map(JSON.string) ?? "null"
            return "{\"time\": \(time), \"event\": \(JSON.string(name)), \"path\": \(path), \"label\": \(label)}"
        }
    }
}
