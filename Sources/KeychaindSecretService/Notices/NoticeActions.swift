import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// The buttons of notifications: dialogs that keychaind opens for itself.
@BusActor
struct NoticeActions {
    let provider: Provider

    /// keychaind as its own client: dialogs name it, and what it gets ends with it.
    var own: Client { provider.clients[provider.connection.uniqueName] }

    var unlock: DesktopNotification.Action {
        DesktopNotification.Action(Text("Unlock…")) {
            BusActor.start {
                guard let login = provider.vault.collection(named: .login), login.isLocked else { return }
                _ = await own.asking { conversation in
                    await provider.unlocker.unlock(login, asking: conversation, for: own)
                }
            }
        }
    }

    /// Shows a file in the file manager.
    func show(_ file: String) -> DesktopNotification.Action {
        DesktopNotification.Action(Text("Show the File")) {
            BusActor.start {
                let name = "org.freedesktop.FileManager1"
                let path = ObjectPath(unchecked: "/org/freedesktop/FileManager1")
                try? await provider.connection.startService(name)
                guard let manager = try? await provider.connection.service(name) else { return }
                let message = Message.call(to: manager, path, name, "ShowItems")
                message.expectNoReply()
                message.append(["file://" + NoticeActions.escaped(file)], "")
                provider.connection.send(message)
            }
        }
    }

    /// A path as part of a URI.
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }

    /// Asks for the passcode, which frees the reader wherever it is typed.
    var freeReader: DesktopNotification.Action {
        DesktopNotification.Action(Text("Enter Password…")) {
            BusActor.start {
                let passcode = VaultPasscode(provider.vault)
                defer { passcode.forget() }
                let caller = await own.caller()
                let words = EvaluationWords.freeingReader(for: caller)
                _ = await own.asking { conversation in
                    await provider.authenticator.evaluator.evaluate(
                        EvaluationRequest(Requirement(policy: Policy(.passcode))),
                        passcode: passcode,
                        asking: conversation,
                        words
                    ).outcome()
                }
            }
        }
    }

    /// Limits a sandboxed program to the items that are known as its own, after a dialog that names them.
    func limit(_ program: String) {
        BusActor.start {
            let vault = provider.vault
            guard let items = try? await provider.sandboxes.items(of: program) else { return }
            let own = items.compactMap { item in vault.collection(named: item.collection).map { ($0, item.id) } }
            let prompt = ConfirmSandboxPrompt(program, own, provider: provider)
            _ = await self.own.asking { conversation in await prompt.perform(asking: conversation, for: self.own) }
        }
    }

    private func newestCopy(of name: CollectionName) async throws(BusError) -> StoredCopy? {
        try await provider.restorations.copies(for: own)
            .filter { copy in copy.file.hasPrefix("\(name.encoded).") }
            .max { $0.modified < $1.modified }
    }

    /// Restores the newest past state of a keychain, after a dialog that names it.
    func restore(_ name: CollectionName) -> DesktopNotification.Action {
        DesktopNotification.Action(Text("Restore…")) {
            BusActor.start {
                do throws(BusError) {
                    guard let newest = try await newestCopy(of: name) else {
                        return provider.logger.notice(
                            "There is no past state of a keychain",
                            metadata: ["keychain": "\(name)"]
                        )
                    }
                    let backup = try await provider.restorations.stage(copy: newest.id, for: own)
                    let prompt = RestorePrompt(backup, as: name, restorations: provider.restorations)
                    _ = await own.asking { conversation in await prompt.perform(asking: conversation, for: own) }
                } catch {
                    provider.logger.error(
                        "A keychain could not be restored",
                        metadata: ["keychain": "\(name)", "reason": "\(error.message)"]
                    )
                }
            }
        }
    }
}

extension EvaluationWords {
    fileprivate static func freeingReader(for caller: Caller) -> EvaluationWords {
        EvaluationWords(
            message: Text("The fingerprint reader is locked"),
            circumstances: Text("Too many touches did not match. The right password frees the reader."),
            caller: caller.fullName,
            callerDetails: caller.details
        )
    }
}
