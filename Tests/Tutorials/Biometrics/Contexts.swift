// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

import LocalAuthentication

/// What the text leaves to the app.
struct Screens {
    var proceed: () -> Void = {}
    var show: (String) -> Void = { _ in }
    var unavailable: (NSError?) -> Void = { _ in }
}

func customisedContext() -> LAContext {
// The text:
let context = LAContext()
// Its end.
// The text:
context.localizedCancelTitle = "Use Password"
context.localizedFallbackTitle = "Enter Passcode"
// Its end.
    return context
}

func signIn(_ screens: Screens) async throws {
// The text:
let context = LAContext()
var error: NSError?
guard context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) else {
// Device authentication is unavailable. Offer an app-level fallback.
return
}
let reason = "Authenticate to access your account"
guard try await context.evaluatePolicy(
.deviceOwnerAuthentication,
localizedReason: reason
) else { return }
// Continue with the protected action.
// Its end.
    screens.proceed()
}

func logOut(_ context: LAContext) {
// The text:
context.invalidate()
// Its end.
}

func fingers(_ context: LAContext) -> Data? {
// The text:
if #available(iOS 18.0, *) {
let stateHash = context.domainState.biometry.stateHash
// Its end.
    return stateHash
// The text:
}
// Its end.
    return nil
}

func showBiometry(_ screens: Screens) {
    func handleBiometryUnavailable(_ error: NSError?) { screens.unavailable(error) }
    func showFingerprintUI() { screens.show("fingerprint") }
    func showFaceUI() { screens.show("face") }
    func showPasswordUI() { screens.show("password") }
    func showGenericBiometryUI() { screens.show("generic") }
// The text:
let context = LAContext()
var error: NSError?
guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
handleBiometryUnavailable(error)
return
}
switch context.biometryType {
case .touchID:
showFingerprintUI()
case .faceID:
showFaceUI()
case .none:
showPasswordUI()
@unknown default:
showGenericBiometryUI()
}
// Its end.
}

func authenticate(_ context: LAContext, _ reason: String, _ screens: Screens) async throws {
// The text:
do {
let authenticated = try await context.evaluatePolicy(
.deviceOwnerAuthentication,
localizedReason: reason
)
guard authenticated else { return }
// Continue with the protected action.
// Its end.
    screens.proceed()
// The text:
} catch let error as LAError {
switch error.code {
case .authenticationFailed:
// Biometric mismatch or invalid passcode
// Its end.
        screens.show("again")
// The text:
case .userCancel:
// User tapped Cancel
return // silent
case .userFallback:
// User tapped fallback button
// Show password UI
// Its end.
        screens.show("password")
// The text:
case .biometryNotAvailable:
// No biometric hardware on device
// Its end.
        screens.show("no hardware")
// The text:
case .biometryNotEnrolled:
// No fingerprints or face registered
// Its end.
        screens.show("not enrolled")
// The text:
case .biometryLockout:
// Too many failures. Biometrics locked.
// Evaluate with deviceOwnerAuthentication to offer passcode
// Its end.
        screens.show("locked out")
// The text:
case .passcodeNotSet:
// No passcode set on device
// Its end.
        screens.show("no passcode")
    case .systemCancel, .appCancel, .invalidContext, .biometryNotPaired, .biometryDisconnected, .invalidDimensions,
        .notInteractive:
        screens.show("later")
// The text:
@unknown default:
break
}
}
// Its end.
}
