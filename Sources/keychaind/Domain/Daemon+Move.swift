import DBus
import Glibc
import Logging
import Vault

/// Keychains from before there was a domain.
extension Daemon {
    /// Moves the user's keychains from the home folder into the domain, at the first start in it.
    ///
    /// Throws what the vault's opening would; the vault must not be opened then, for a keychain that is made in it would take the place
    /// of one that is still to come.
    func moveKeychains() async throws(VaultError) {
        guard case .entered(_, _, let dataDirectory, _) = domain else { return }
        let outcome = await BlockingThread.run { [logger] in
            Self.moveKeychains(from: UserFolders.earlierData, to: dataDirectory, logger: logger)
        }
        guard case (let folder, .moved(let files, let left)) = try outcome.get() else { return }
        let keychains = files.filter { file in file.hasSuffix(".keychain") && !file.contains("/") }
        logger.notice(
            "Keychains were moved from the home folder to where only keychaind can read them",
            metadata: [
                "from": "\(folder)", "to": "\(dataDirectory)", "keychains": "\(keychains.joined(separator: ", "))",
            ]
        )
        for (file, reason) in left.sorted(by: { $0.key < $1.key }) {
            logger.warning(
                "A file stays in the home folder",
                metadata: ["file": "\(folder)/\(file)", "reason": "\(reason)"]
            )
        }
        DesktopNotification(
            summary: "Your keychains have moved",
            body: """
                They are now where only keychaind can read them, and open with the same passwords as before. \
                \(folder)/\(KeychainMove.noteName) says more.
                """
        ).send(on: connection)
    }

    /// Moves what is in the first of the folders that has keychains.
    private nonisolated static func moveKeychains(
        from folders: [String],
        to dataDirectory: String,
        logger: Logger
    ) -> Result<(folder: String, KeychainMove.Outcome), VaultError> {
        do throws(VaultError) {
            let folder = folders.first(where: KeychainMove.hasKeychains) ?? folders.first ?? "/nonexistent"
            return .success((folder, try KeychainMove(from: folder, to: dataDirectory, logger: logger).run()))
        } catch {
            return .failure(error)
        }
    }
}

/// A message to the person at the desktop (Desktop Notifications Specification), if something shows such messages now.
struct DesktopNotification {
    private static let service = "org.freedesktop.Notifications"

    let summary: String
    let body: String

    /// Sends it; nobody waits for it, and nothing is started for it.
    @BusActor
    func send(on connection: Connection) {
        let path = ObjectPath(unchecked: "/org/freedesktop/Notifications")
        let message = Message.call(to: Self.service, path, Self.service, "Notify")
        message.forbidActivation()
        message.expectNoReply()
        message.append(
            "keychaind",
            UInt32(0),
            "dialog-password",
            summary,
            body,
            [String](),
            [String: Variant](),
            Int32(-1)
        )
        connection.send(message)
    }
}
