import Glibc
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindVault
import Logging

extension Daemon {
    /// Moves the keychains from the home folder into the domain, at the first start there.
    ///
    /// If it throws, the vault must stay closed: a new keychain would take the place of one that is not moved yet.
    func moveKeychains() async throws(VaultError) {
        guard case .entered(_, _, let dataDirectory, _) = domain else { return }
        let outcome = await BlockingThread.run { [logger] in
            Self.moveKeychains(from: UserFolders.earlierData, to: dataDirectory, logger: logger)
        }
        let (folder, result) = try outcome.get()
        if case .postponed = result {
            return logger.notice(
                "The move of the keychains from the home folder is postponed; a later start looks again",
                metadata: ["folder": "\(folder)"]
            )
        }
        guard case .moved(let files, let left) = result else { return }
        let keychains = files.filter { file in file.hasSuffix(".keychain") && !file.contains("/") }
        logger.notice(
            "Keychains were moved from the home folder to a folder that only keychaind can read",
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
        let note = "\(folder)/\(KeychainMove.noteName)"
        DesktopNotification(
            summary: Text("Your keychains have moved"),
            body: Text(
                """
                They are in a folder that only keychaind can read, and open with the same passwords as before. \
                \(note) has the details.
                """
            )
        ).send(on: connection)
    }

    private nonisolated static func moveKeychains(
        from places: KeychainMove.Places?,
        to dataDirectory: String,
        logger: Logger
    ) -> Result<(folder: String, outcome: KeychainMove.Outcome), VaultError> {
        do throws(VaultError) {
            return .success(try KeychainMove.run(from: places, to: dataDirectory, logger: logger))
        } catch {
            return .failure(error)
        }
    }
}
