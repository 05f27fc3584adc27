import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The methods that a program in a sandbox may call: those for its own items.
///
/// What is not named here is refused, so that a new method is closed until somebody opens it.
@BusActor
enum SandboxGate {
    private static let service: [String: Set<String>] = [
        InterfaceName.service: [
            "OpenSession", "GetSecrets", "SearchItems", "ReadAlias", "Unlock", "Lock", "CreateCollection",
        ],
        InterfaceName.search: ["Search", "Get"],
        InterfaceName.status: [],
    ]

    private static let collection: [String: Set<String>] = [
        InterfaceName.collection: ["SearchItems", "CreateItem"],
        InterfaceName.keychainCollection: ["CreateItem", "DeleteItems"],
        InterfaceName.keys: ["GenerateKey"],
    ]

    /// The methods of an item that leave it as it is.
    private static let reading: [String: Set<String>] = [
        InterfaceName.item: ["GetSecret"],
        InterfaceName.key: ["Sign", "Decrypt", "Agree"],
    ]

    /// Throws unless a confined client may make a call to the service.
    static func checkService(_ call: MethodCall) throws(BusError) {
        try check(call, service)
    }

    /// Throws unless a confined client may make a call to a collection.
    static func checkCollection(_ call: MethodCall) throws(BusError) {
        try check(call, collection)
    }

    /// Throws unless a call leaves an item as it is, such as one that a rule shares.
    static func checkReading(_ call: MethodCall) throws(BusError) {
        try check(call, reading)
    }

    private static func check(_ call: MethodCall, _ allowed: [String: Set<String>]) throws(BusError) {
        let member = call.member
        guard let interface = call.interface else {
            // The first interface with the method gets the call.
            let isKnown = ["Introspect", "Get", "GetAll"].contains(member)
            guard isKnown || allowed.values.contains(where: { $0.contains(member) }) else { throw denied(member) }
            return
        }
        switch interface {
        case StandardInterface.introspectable, StandardInterface.peer: return
        case StandardInterface.properties:
            guard member != "Set" else { throw denied(member) }
        default:
            guard allowed[interface]?.contains(member) == true else { throw denied(member) }
        }
    }

    private static func denied(_ member: String) -> BusError {
        BusError(.accessDenied, "programs in a sandbox may not call \(member) here")
    }
}
