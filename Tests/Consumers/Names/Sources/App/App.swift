import Configuration
import DBus
import Examples
import Gcrypt
import Keychain
import Notes
import Security
import Stranger
import TestSupport
import Vault
import Wrapper

@main
enum App {
    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case "store":
            let status = Keychain(service: "Names").add("correct horse", for: "anna")
            print(status == errSecSuccess ? "stored" : "status \(status)")
        case "read": print(Wrapper(service: "Names").password(of: "anna") ?? "nothing")
        case "modules": print(seesSecurity, seesLocalAuthentication)
        default: print(names)
        }
    }

    static var names: [String] {
        [
            nameOfConfiguration, nameOfDBus, nameOfExamples, nameOfGcrypt, nameOfNotes, nameOfTestSupport,
            nameOfVault,
        ]
    }
}
