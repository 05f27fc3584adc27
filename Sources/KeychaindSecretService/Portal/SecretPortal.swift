import Glibc
import KeychaindAuthentication
package import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
package import Logging

/// The backend of the Secret portal: gives each sandboxed application a secret to encrypt its data with.
///
/// Only the desktop portal, which identifies the applications, may call it. For others the object does not exist. A
/// program in a sandbox that has taken the portal's name gets nothing from it.
@BusActor
package final class SecretPortal {
    /// The bus name, as in keychaind.portal.
    package nonisolated static let busName = "org.freedesktop.impl.portal.desktop.keychaind"

    private static let desktopPortal = "org.freedesktop.portal.Desktop"
    private static let path = ObjectPath(unchecked: "/org/freedesktop/portal/desktop")
    /// Where the portal has its requests; at another path, a request could take the place of a dialog's object.
    private static let requests = "/org/freedesktop/portal/desktop/request/"

    /// Response codes of the portal.
    private enum Response: UInt32 {
        case success = 0
        case cancelled = 1
        case failed = 2
    }

    static let kind = ObjectKind<SecretPortal>(
        [
            Interface(
                InterfaceName.portalSecret,
                methods: [
                    Method(
                        suspending: "RetrieveSecret",
                        in: [
                            Parameter("handle", ObjectPath.self), Parameter("app_id", String.self),
                            Parameter("fd", FileDescriptor.self), Parameter("options", [String: Variant].self),
                        ],
                        out: [Parameter("response", UInt32.self), Parameter("results", [String: Variant].self)]
                    ) { (portal, call) async throws(BusError) in
                        let (handle, application, descriptor, _) = try call.arguments(
                            ObjectPath.self,
                            String.self,
                            FileDescriptor.self,
                            [String: Variant].self
                        )
                        let response = await portal.retrieve(application, to: descriptor, handle, for: call.client)
                        call.reply(with: response.rawValue, [String: Variant]())
                    }
                ],
                properties: [Property("version", UInt32.self, changes: .never, get: { _ in 1 })]
            )
        ]
    )

    private let provider: Provider
    private let connection: Connection
    private let logger: Logger
    /// A write to a descriptor of an application may block.
    private let threads = BlockingCalls(limit: 16, patience: .seconds(2))

    package init(provider: Provider, connection: Connection, logger: Logger) {
        self.provider = provider
        self.connection = connection
        self.logger = logger
    }

    /// Requests the bus name once the owner of the desktop portal is known; false if it is taken.
    package func start(_ options: NameRequest.Options = []) async -> Bool {
        let known = Promise<Void>()
        connection.followOwner(of: Self.desktopPortal) { [self] owner in
            connection.withdraw(Self.path)
            if let owner {
                let client = provider.clients[owner]
                connection.export(Self.kind.target(self), at: Self.path, to: client, takesDescriptors: true)
            }
            known.fulfill()
        }
        await known.wait()
        return (try? await connection.acquireName(Self.busName, options: options)) == .owner
    }

    /// Answers a request, which can be closed from the beginning, as while keys are derived.
    private func retrieve(
        _ application: String,
        to descriptor: FileDescriptor,
        _ handle: ObjectPath,
        for client: Client
    ) async -> Response {
        guard handle.rawValue.hasPrefix(Self.requests), application.utf8.count <= PortalSecrets.applicationLimit
        else { return .failed }
        if let objection = await connection.objectionToService?(client.name) {
            logger.notice(
                "A program has the desktop portal's name and may not",
                metadata: ["caller": "\(client.name)", "reason": "\(objection)"]
            )
            return .failed
        }
        return await client.asking { conversation in
            connection.export(PortalRequest.kind.target(PortalRequest(conversation)), at: handle, to: client)
            defer { connection.withdraw(handle) }
            return await retrieve(application, to: descriptor, asking: conversation, for: client)
        }
    }

    private func retrieve(
        _ application: String,
        to descriptor: FileDescriptor,
        asking conversation: Conversation,
        for client: Client
    ) async -> Response {
        await provider.readiness.waitForKeys { [provider] in provider.vault.collections.filter { $0.name == .login } }
        guard !provider.readiness.hasEnded, let login = provider.vault.collection(named: .login) else { return .failed }
        if login.isLocked {
            let principal = Caller(uniqueName: client.name, insight: .portal(application: application))
            let isOpen = await provider.unlocker.unlock(
                login,
                asking: conversation,
                for: client,
                onBehalfOf: principal
            )
            guard isOpen else { return .cancelled }
        }
        do throws(VaultError) {
            let secret = try await provider.portalSecrets.secret(for: application, in: login)
            let delivery = SecretDelivery(of: secret, to: descriptor)
            return await threads.run(for: application) { delivery.write() } == true ? .success : .failed
        } catch {
            logger.error("Could not give an application its secret", metadata: ["reason": "\(error)"])
            return .failed
        }
    }
}

/// An open request, at the path that the portal chose.
@BusActor
final class PortalRequest {
    private let conversation: Conversation

    static let kind = ObjectKind<PortalRequest>(
        [
            Interface(
                InterfaceName.portalRequest,
                methods: [
                    Method("Close") { (request, call) throws(BusError) in
                        request.conversation.end()
                        call.reply()
                    }
                ]
            )
        ]
    )

    init(_ conversation: Conversation) {
        self.conversation = conversation
    }
}

/// An application's secret, and the descriptor that it goes to.
///
/// The application chooses the file behind the descriptor, which may be on a file system that never answers, and can
/// fill a pipe at any moment. A class because a thread that waits for such a file shares the secret.
final class SecretDelivery: Sendable {
    private let secret: SecureBytes
    private let descriptor: FileDescriptor

    init(of secret: consuming SecureBytes, to descriptor: FileDescriptor) {
        self.secret = secret
        self.descriptor = descriptor
    }

    /// Writes the secret if there is room for it, which may block all the same.
    ///
    /// A pipe takes all of it at once.
    func write() -> Bool {
        var event = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        guard poll(&event, 1, 0) == 1, event.revents & Int16(POLLOUT) != 0 else { return false }
        return secret.withUnsafeBytes { bytes in
            Glibc.write(descriptor.rawValue, bytes.baseAddress, bytes.count) == bytes.count
        }
    }
}
