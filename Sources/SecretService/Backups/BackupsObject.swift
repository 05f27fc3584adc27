import DBus
import Glibc
import Vault

/// The object by which keychains are put back from a file.
struct BackupsObject {
    let restorations: Restorations
    let client: Client

    @BusActor static let kind = ObjectKind<BackupsObject>([
        Interface(
            InterfaceName.backups,
            methods: [
                Method(
                    suspending: "Restore",
                    in: [Parameter("file", FileDescriptor.self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    let file = try call.arguments(FileDescriptor.self)
                    call.reply(with: try await object.restore(file))
                }
            ]
        )
    ])

    /// Takes a copy of the file, and makes the prompt that asks a person.
    @BusActor
    private func restore(_ file: FileDescriptor) async throws(BusError) -> ObjectPath {
        // The session bus lets nobody else in; should another bus be configured otherwise, this does not.
        guard await client.userID() == getuid() else {
            throw BusError(.accessDenied, "keychains are restored by their owner")
        }
        let backup = try await restorations.stage(file)
        guard let name = restorations.vault.name(of: backup, fileName: BackupsObject.fileName(of: file)) else {
            throw BusError(.invalidArguments, "the keychain in memory cannot be restored")
        }
        return try client.makePrompt(RestorePrompt(backup, as: name, restorations: restorations))
    }

    /// The name that the file has, or had when it was opened; it is only used to name a keychain that is not there.
    private static func fileName(of file: FileDescriptor) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file.rawValue)", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/").last.map { String($0) }
    }
}
