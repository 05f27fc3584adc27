// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

// The text:
import LocalAuthentication
import Observation
@MainActor
@Observable
final class BiometricService {
private(set) var isAuthenticated = false
private(set) var biometryType: LABiometryType = .none
private(set) var error: String?
func checkAvailability() {
let context = LAContext()
var nsError: NSError?
guard context.canEvaluatePolicy(
.deviceOwnerAuthenticationWithBiometrics,
error: &nsError
) else {
error = nsError?.localizedDescription
return
}
biometryType = context.biometryType
}
func authenticate() async {
let context = LAContext()
let reason = "Authenticate to access your account"
do {
isAuthenticated = try await context.evaluatePolicy(
.deviceOwnerAuthentication,
localizedReason: reason
)
} catch {
self.error = error.localizedDescription
}
}
func logout() {
isAuthenticated = false
}
}
// Its end.

