import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The service as seen by one client (#49 – #87).
struct ServiceObject {
    let provider: Provider
    let client: Client

    /// The collections that exist for the client.
    @BusActor private var collectionPaths: [ObjectPath] {
        client.collections(of: provider.vault).map { .collection($0.name) }
    }

    @BusActor static let kind = ObjectKind<ServiceObject>(
        [
            Interface(
                InterfaceName.service,
                methods: sessionMethods + collectionMethods + lockMethods,
                properties: [Property("Collections", [ObjectPath].self, get: { $0.collectionPaths })],
                signals: ["CollectionCreated", "CollectionDeleted", "CollectionChanged"].map { name in
                    SignalDeclaration(name, [Parameter("collection", ObjectPath.self)])
                }
            ),
            searchInterface, statusInterface, masterPasswordInterface,
        ],
        children: { object in
            ["aliases", "collection", "prompt"] + (object.client.view.isConfined ? [] : ["sandboxes"]) + ["session"]
        }
    )
}
