import Authentication
import DBus

/// What is told of authentication, and where contexts are made.
struct AuthenticationObject {
    let provider: Provider
    let caller: String

    @BusActor static let kind = ObjectKind<AuthenticationObject>(
        [
            Interface(
                InterfaceName.authentication,
                methods: [
                    Method(suspending: "CreateContext", out: [Parameter("context", ObjectPath.self)]) {
                        (object, call) async throws(BusError) in
                        let context = try await object.provider.createContext(for: object.caller)
                        call.reply(with: ObjectPath.context(context.number))
                    },
                    Method(
                        suspending: "CanEvaluatePolicy",
                        in: [Parameter("policy", String.self)],
                        out: [
                            Parameter("possible", Bool.self), Parameter("error", String.self),
                            Parameter("biometry", String.self),
                        ]
                    ) { (object, call) async throws(BusError) in
                        let policy = try EvaluationPolicy(named: try call.arguments(String.self))
                        let (error, hasReader) = await object.provider.obstacle(to: policy.policy, for: object.caller)
                        let name = error.map { ErrorName($0.code).rawValue }
                        call.reply(with: name == nil, name ?? "", hasReader ? "fingerprint" : "none")
                    },
                    Method(suspending: "GetDomainState", out: [Parameter("state", ByteArray.self)]) {
                        (object, call) async throws(BusError) in
                        call.reply(with: ByteArray(try await object.provider.domainState(for: object.caller)))
                    },
                ]
            )
        ],
        children: { _ in ["context"] }
    )
}
