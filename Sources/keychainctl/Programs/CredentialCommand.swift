import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

struct CredentialCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Serve secrets to LoadCredential= of systemd, on a socket.",
        discussion: """
            With LoadCredential=NAME:SOCKET in a unit, systemd connects to the socket and sends unit and name. Serves \
            only what --serve names, and only to your own programs and root. Any program of yours can claim to be \
            systemd: protect an item to be asked first. Runs until Ctrl-C.
            """
    )

    @Option(help: "The path of the socket to make; without it, the socket that systemd has passed.")
    var socket: String?

    @Option(
        name: .customLong("serve"),
        help: ArgumentHelp(
            "A unit, the name of a credential, and its item; may be repeated.",
            valueName: "unit/name=query"
        )
    )
    var served: [String]

    @OptionGroup var prompt: PromptArguments

    func validate() throws {
        var names: Set<String> = []
        for query in try served.map(SecretQuery.init) {
            let parts = query.name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
                let name = query.name.visible
                throw ValidationError("--serve: “\(name)” is not UNIT/NAME, such as mail.service/password")
            }
            guard names.insert(query.name).inserted else {
                throw ValidationError("--serve: “\(query.name.visible)” is given twice")
            }
        }
    }

    func run(_ provider: ProviderAccess) async throws {
        let queries = try served.map(SecretQuery.init)
        let byName = Dictionary(queries.map { ($0.name, $0.query) }) { first, _ in first }
        let listener = try CredentialSocket(path: socket)
        await withDiscardingTaskGroup { group in
            for await connection in listener.connections() {
                group.addTask { await serve(connection, byName, provider) }
            }
        }
        throw CancellationError()
    }

    private func serve(
        _ connection: CredentialConnection,
        _ queries: [String: ItemSelection],
        _ provider: ProviderAccess
    ) async {
        guard let request = connection.request, let query = queries[request] else {
            return Terminal.tell("keychainctl: refused \(connection.description)")
        }
        do {
            let found = try await ItemFinder(client: provider.client).one(query, prompt.prompting)
            let secret = try await provider.secret(of: found, prompt.prompting)
            try connection.send(secret)
            Terminal.tell("keychainctl: gave \(connection.description)")
        } catch {
            let failure = error as? CommandFailure ?? (error as? SecretServiceError).map { CommandFailure($0) }
            Terminal.tell("keychainctl: \(connection.description): \(failure?.text ?? Text("interrupted"))")
        }
    }
}
