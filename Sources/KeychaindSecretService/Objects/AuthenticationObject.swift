import KeychaindAuthentication
import KeychaindDBus

/// The entry point for authentication.
struct AuthenticationObject {
    let authenticator: Authenticator
    let client: Client

    @BusActor static let kind = ObjectKind<AuthenticationObject>(
        [
            Interface(
                InterfaceName.authentication,
                methods: [
                    Method(suspending: "CreateContext", out: [Parameter("context", ObjectPath.self)]) {
                        (object, call) async throws(BusError) in
                        let context = try await object.client.makeContext()
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
                        let (error, hasReader) = await object.authenticator.obstacle(
                            to: policy.policy,
                            for: object.client
                        )
                        let name = error.map { ErrorName($0.code).rawValue }
                        call.reply(with: name == nil, name ?? "", hasReader ? "fingerprint" : "none")
                    },
                    Method(suspending: "GetDomainState", out: [Parameter("state", ByteArray.self)]) {
                        (object, call) async throws(BusError) in
                        call.reply(with: ByteArray(try await object.authenticator.domainState(for: object.client)))
                    },
                ]
            )
        ],
        children: { _ in ["context"] }
    )
}
