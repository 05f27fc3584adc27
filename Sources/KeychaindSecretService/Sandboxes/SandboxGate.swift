import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// The methods of an object that a program in a sandbox may call: those for its own items.
///
/// What is not named here is refused, so that a new method is closed until somebody opens it.
@BusActor
struct SandboxGate {
    /// By interface.
    private let allowed: [String: Set<String>]

    static let service = SandboxGate(allowed: [
        InterfaceName.service: [
            "OpenSession", "GetSecrets", "SearchItems", "ReadAlias", "Unlock", "Lock", "CreateCollection",
        ],
        InterfaceName.search: ["Search", "Get"],
        InterfaceName.status: [],
    ])

    static let collection = SandboxGate(allowed: [
        InterfaceName.collection: ["SearchItems", "CreateItem"],
        InterfaceName.keychainCollection: ["CreateItem", "DeleteItems"],
        InterfaceName.keys: ["GenerateKey"],
    ])

    /// The methods that leave an item as it is, such as one that a rule shares.
    static let item = SandboxGate(allowed: [
        InterfaceName.item: ["GetSecret"],
        InterfaceName.key: ["Sign", "Decrypt", "Agree"],
    ])

    /// Throws unless the call is allowed.
    func check(_ call: MethodCall) throws(BusError) {
        let member = call.member
        guard let interface = call.interface else {
            // The first interface with the method gets the call.
            let isKnown = ["Introspect", "Get", "GetAll"].contains(member)
            guard isKnown || allowed.values.contains(where: { $0.contains(member) }) else { throw Self.denied(member) }
            return
        }
        switch interface {
        case StandardInterface.introspectable, StandardInterface.peer: return
        case StandardInterface.properties:
            guard member != "Set" else { throw Self.denied(member) }
        default:
            guard allowed[interface]?.contains(member) == true else { throw Self.denied(member) }
        }
    }

    private static func denied(_ member: String) -> BusError {
        BusError(.accessDenied, "programs in a sandbox may not call \(member) here")
    }
}
