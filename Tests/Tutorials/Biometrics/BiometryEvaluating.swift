// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

import Foundation
import LocalAuthentication

// The text:
protocol BiometryEvaluating {
func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
var biometryType: LABiometryType { get }
}
extension LAContext: BiometryEvaluating {}
// Its end.

final class FailingEvaluator: BiometryEvaluating {
    let biometryType = LABiometryType.touchID

    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }

    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        throw LAError(.authenticationFailed)
    }
}
