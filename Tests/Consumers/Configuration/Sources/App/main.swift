import Configuration
import Security

let settings = ConfigReader(provider: EnvironmentVariablesProvider())
let service = settings.string(forKey: "password.service", default: "none")
guard store("correct horse", of: service) == errSecSuccess else { fatalError("not stored") }
print("\(service): \(password(of: service) ?? "nothing")")
