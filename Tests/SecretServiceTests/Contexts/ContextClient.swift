import KeychaindDBus
import KeychaindTestSupport

/// A context, used by its owner.
struct ContextClient {
    static let authentication = ObjectPath(unchecked: "/org/keychaind/Authentication")
    static let interface = "org.keychaind.Authentication1"
    static let contextInterface = "org.keychaind.Authentication1.Context"

    let client: SecretServiceProxy
    let path: ObjectPath

    /// Creates a context.
    @BusActor
    init(_ client: SecretServiceProxy) async throws(BusError) {
        self.client = client
        path = try await client.call(Self.authentication, Self.interface, "CreateContext").read(ObjectPath.self)
    }

    @BusActor
    func evaluate(_ policy: String = "deviceOwnerAuthentication", reason: String = "") async throws(BusError) {
        try await client.call(path, Self.contextInterface, "EvaluatePolicy", policy, reason)
    }

    @BusActor
    func call(_ member: String) async throws(BusError) {
        try await client.call(path, Self.contextInterface, member)
    }

    @BusActor
    func unlock(_ objects: [ObjectPath]) async throws(BusError) -> (unlocked: [ObjectPath], prompt: ObjectPath) {
        try await client.call(path, Self.contextInterface, "Unlock", objects).read([ObjectPath].self, ObjectPath.self)
    }

    @BusActor
    func authorize(
        _ action: String,
        _ objects: [ObjectPath]
    ) async throws(BusError) -> (authorized: [ObjectPath], prompt: ObjectPath) {
        try await client.call(path, Self.contextInterface, "Authorize", action, objects)
            .read([ObjectPath].self, ObjectPath.self)
    }

    /// Supplies an application password.
    @BusActor
    func setCredential(_ password: String, session: ObjectPath) async throws(BusError) {
        let secret = WireSecret(session: session, value: Array(password.utf8))
        try await client.call(path, Self.contextInterface, "SetCredential", secret)
    }

    @BusActor
    func failure() async throws(BusError) -> String {
        try await client.property("Failure", of: path, Self.contextInterface)
    }

    /// In milliseconds.
    @BusActor
    func grantDuration() async throws(BusError) -> UInt32 {
        try await client.property("GrantDuration", of: path, Self.contextInterface)
    }

    @BusActor
    func set(_ name: String, to value: Variant) async throws(BusError) {
        try await client.setProperty(name, of: path, Self.contextInterface, to: value)
    }
}

extension BusError {
    /// The error of an authentication, under Apple's name.
    static func authentication(_ name: String) -> BusError {
        BusError(ErrorName(rawValue: "org.keychaind.Error.\(name)"), "")
    }
}

extension SecretServiceProxy {
    func canEvaluate(_ policy: String) async throws(BusError) -> (possible: Bool, error: String, biometry: String) {
        try await call(ContextClient.authentication, ContextClient.interface, "CanEvaluatePolicy", policy)
            .read(Bool.self, String.self, String.self)
    }
}
