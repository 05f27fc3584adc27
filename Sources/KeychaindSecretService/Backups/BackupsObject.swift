import Glibc
import KeychaindDBus
import KeychaindVault

/// The object that restores keychains from files.
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

    /// Copies the file and returns a prompt for the restore.
    @BusActor
    private func restore(_ file: FileDescriptor) async throws(BusError) -> ObjectPath {
        // The session bus admits only its owner; a differently configured bus may not.
        guard await client.userID() == getuid() else {
            throw BusError(.accessDenied, "only their owner can restore keychains")
        }
        let backup = try await restorations.stage(file)
        guard let name = restorations.vault.name(of: backup, fileName: BackupsObject.fileName(of: file)) else {
            throw BusError(.invalidArguments, "the keychain in memory cannot be restored")
        }
        return try client.makePrompt(RestorePrompt(backup, as: name, restorations: restorations))
    }

    /// Returns the name of the file when it was opened; it only names a keychain that does not exist yet.
    private static func fileName(of file: FileDescriptor) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file.rawValue)", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/").last.map { String($0) }
    }
}
