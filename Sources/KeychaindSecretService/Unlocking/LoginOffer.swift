import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault
import Logging

/// "Open Together With “Login”": what the dialog for the password of another keychain offers while `login` is unlocked.
@BusActor
struct LoginOffer {
    private let collection: Collection
    private let login: String

    /// Nil for `login`, while that is locked, for a keychain without a password yet, and for one that opens with it.
    init?(for collection: Collection, in vault: Vault) {
        guard let login = vault.collection(named: .login), login !== collection, !login.isLocked,
            !collection.isVacant, !collection.opensWithLogin
        else { return nil }
        self.collection = collection
        self.login = PromptText.name(login.label)
    }

    var choice: PromptRequest.Choice<Text> {
        PromptRequest.Choice(
            label: Text("Open Together With “\(login)”"),
            explanation: Text("Tick the box to open this keychain whenever “\(login)” is opened, as when you log in.")
        )
    }

    /// Adds the key slot with the password that has opened the keychain.
    func accept(openedBy key: borrowing SecureBytes, _ logger: Logger) async {
        do throws(VaultError) {
            let copy: SecureBytes
            do throws(GcryptError) {
                copy = try key.copy(in: .locked)
            } catch {
                throw VaultError(error)
            }
            try await collection.addLogin(openedBy: copy)
            logger.notice("A keychain opens with the login keychain", metadata: ["keychain": "\(collection.name)"])
        } catch {
            logger.error("A keychain does not open with the login keychain", metadata: ["reason": "\(error)"])
        }
    }
}
