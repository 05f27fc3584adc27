import CKeychaindDBus
import Foundation
import Glibc
import KeychaindAuthentication
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindTestSupport
import KeychaindVault
import Synchronization

@testable import KeychaindDBus
@testable import KeychaindSecretService

/// Calls of methods of the daemon's own objects: the service runs in this process, on a bus of its own.
extension FuzzReader {
    static let messages = [
        FuzzReader("call") { bytes in
            let bytes = bytes.copied
            try FuzzedService.run { service in try await service.receive(bytes) }
        },
        FuzzReader("portal") { bytes in
            let bytes = bytes.copied
            try FuzzedService.run { service in try await service.retrievePortalSecret(bytes) }
        },
    ]
}

/// The service with a caller that is no sandbox, an unlocked `login` in memory, and no prompter.
///
/// Calls do not pass the bus, which would refuse most of them, but go where the connection takes them to; replies do.
@BusActor
private final class FuzzedService {
    private static var started: FuzzedService?

    /// The folder of the vault, removed when the process ends.
    private nonisolated static let leftover = Mutex<String?>(nil)

    /// A client ends after so many calls, with all that it has opened.
    private static let callsOfClient = 64
    /// More items are deleted.
    private static let items = 20

    private let bus: PrivateBus
    private let folder: String
    private let vault: Vault
    private let provider: Provider
    private let caller: Connection
    private let portal: SecretPortal
    private var calls = 0
    private var session: Session?
    private var context: AuthenticationContext?

    /// Runs `body` on the event loop, and waits for it.
    nonisolated static func run(_ body: @escaping @BusActor @Sendable (FuzzedService) async throws -> Void) throws {
        try FuzzReader.onEventLoop { try await body(await FuzzedService.running()) }
    }

    private static func running() async -> FuzzedService {
        do {
            let service = if let started { started } else { try await FuzzedService() }
            started = service
            return service
        } catch {
            preconditionFailure("the service cannot be started: \(error)")
        }
    }

    private init() async throws {
        bus = try await PrivateBus()
        var template = Array("/dev/shm/keychaind-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BusError(.failed, "no folder") }
        folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        Self.removeAtTheEnd(folder)
        let connection = try bus.connect()
        caller = try bus.connect()
        vault = Vault(
            VaultConfiguration(
                directory: folder,
                keyDerivation: Argon2id(memoryKiB: 64, iterations: 1, lanes: 1),
                generations: 0,
                logger: FuzzReader.silent
            )
        )
        provider = Provider(
            vault: vault,
            connection: connection,
            inspector: CallerInspector(connection: connection, logger: FuzzReader.silent),
            questions: PromptQueue(PrompterChain([], logger: FuzzReader.silent), logger: FuzzReader.silent),
            biometry: NoReader(),
            confinement: { _, _ in .none },
            logger: FuzzReader.silent
        )
        portal = SecretPortal(provider: provider, connection: connection, logger: FuzzReader.silent)
        try await vault.open()
        provider.start()
        if let login = vault.collection(named: .login) {
            try await login.unlock(with: SecureBytes(copying: Array("correct horse".utf8)))
        }
        provider.vaultIsOpen()
    }

    /// Not on the event loop, which the end of the process does not reach.
    private nonisolated static func removeAtTheEnd(_ folder: String) {
        leftover.withLock { leftover in leftover = folder }
        atexit {
            guard let path = FuzzedService.leftover.withLock({ $0 }) else { return }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    func receive(_ bytes: [UInt8]) async throws {
        await prepare()
        calls += 1
        guard let message = message(bytes) else { throw FuzzReader.Refusal() }
        dbus_message_set_sender(message.pointer, caller.uniqueName)
        // Calls delete items, and no number is given out again.
        if message.path?.hasSuffix("/login/1") == true, let id = vault.collection(named: .login)?.itemIDs.first {
            dbus_message_set_path(message.pointer, ObjectPath.item(id, in: .login).rawValue)
        }
        guard dbus_message_get_type(message.pointer) == keychaind_dbus_message_method_call else {
            throw FuzzReader.Refusal()
        }
        provider.connection.server?.receive(message)
        // What the call has begun goes on; what waits for a person or a key waits for nobody.
        for _ in 0..<4 { await Task.yield() }
    }

    /// Asks the backend of the portal for an application's secret; the bytes are the arguments without the descriptor.
    func retrievePortalSecret(_ bytes: [UInt8]) async throws {
        await prepare()
        calls += 1
        guard let arguments = WireMessage(signature: "osa{sv}").message(bytes) else { throw FuzzReader.Refusal() }
        let (handle, application, options) = try arguments.read(ObjectPath.self, String.self, [String: Variant].self)
        let path = ObjectPath(unchecked: "/org/freedesktop/portal/desktop")
        let client = provider.clients[caller.uniqueName]
        let connection = provider.connection
        connection.export(SecretPortal.kind.target(portal), at: path, to: client, takesDescriptors: true)
        let call = Message.call(to: connection.uniqueName, path, InterfaceName.portalSecret, "RetrieveSecret")
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        let output = FileDescriptor(owning: ends[0])
        call.append(handle, application, FileDescriptor(owning: ends[1]), options.filter { $0.value.canBeSent })
        dbus_message_set_sender(call.pointer, caller.uniqueName)
        dbus_message_set_serial(call.pointer, 1)
        connection.server(for: call)?.receive(call)
        for _ in 0..<4 { await Task.yield() }
        var size: CInt = 0
        _ = ioctl(output.rawValue, UInt(FIONREAD), &size)
        promise(size == 0 || size == Collection.applicationSecretSize, "a secret is whole")
    }

    /// The message, in which the zeros in paths of sessions and contexts stand for those of the client.
    private func message(_ bytes: [UInt8]) -> Message? {
        var bytes = bytes
        for (name, number) in [("/session/", session?.number), ("/context/", context?.number)] {
            guard let number else { continue }
            let wanted = Array((name + "0000000000000000").utf8)
            let found = Array((name + number.description).utf8)
            var start = 0
            while start + wanted.count <= bytes.count {
                if bytes[start] == wanted[0], bytes[start..<start + wanted.count].elementsEqual(wanted) {
                    bytes.replaceSubrange(start..<start + wanted.count, with: found)
                }
                start += 1
            }
        }
        return bytes.withUnsafeBytes { WireMessage.demarshal($0) }
    }

    private func prepare() async {
        if calls.isMultiple(of: Self.callsOfClient) {
            provider.clients.remove(caller.uniqueName)
            let client = provider.clients[caller.uniqueName]
            let session = Session(transport: .plain)
            client.sessions.insert(session)
            self.session = session
            context = try? await client.makeContext()
            await client.decideView()
        }
        guard let login = vault.collection(named: .login) else { return }
        if login.isLocked, let password = try? SecureBytes(copying: Array("correct horse".utf8)) {
            _ = try? await login.unlock(with: password)
        }
        if login.itemCount > Self.items {
            for id in login.itemIDs.dropFirst(1) { try? await login.deleteItem(id) }
        }
        if login.itemCount == 0, let bytes = try? SecureBytes(copying: Array("secret".utf8)) {
            let attributes = Attributes([("service", "test")])
            let secret = Secret(bytes: bytes, contentType: "text/plain")
            _ = try? await login.createItem(label: "a", attributes: attributes, secret: secret, replacing: false)
        }
    }
}

/// No fingerprint reader.
@BusActor
private final class NoReader: Biometry {
    let firstHint = BiometryHint.touch

    func availability() async -> BiometryAvailability { .notAvailable(reason: "there is none") }

    func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch { NoMatch() }

    private final class NoMatch: BiometryMatch {
        func outcome() async -> BiometryOutcome { .notMatched }

        func cancel() {}
    }
}

extension Variant {
    /// Whether it can be written again; values of other types are only read.
    fileprivate var canBeSent: Bool {
        switch self {
        case .other: false
        case .variant(let value): value.canBeSent
        default: true
        }
    }
}
