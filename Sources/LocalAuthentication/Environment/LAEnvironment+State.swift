public import Foundation
import SecretServiceClient
import Security

extension LAEnvironment {
    /// The ways to authenticate at one time.
    public final class State: NSObject, Sendable {
        /// The fingerprint reader; nil if there is none.
        public let biometry: MechanismBiometry?

        /// The passcode, which is the password of the login keychain; nil without keychaind.
        public let userPassword: MechanismUserPassword?

        /// Paired devices: none.
        public let companions: [MechanismCompanion] = []

        /// All ways.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap { $0 } }

        init(_ biometry: MechanismBiometry?, _ userPassword: MechanismUserPassword?) {
            self.biometry = biometry
            self.userPassword = userPassword
        }

        /// Compares the ways.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? State)?.allMechanisms == allMechanisms
        }

        /// Hashes the number of ways.
        public override var hash: Int { allMechanisms.count }
    }

    /// A way to authenticate.
    public class Mechanism: NSObject, @unchecked Sendable {
        // Sendable because all properties are constants; the superclass does not declare it.

        /// Whether it can be used now.
        public let isUsable: Bool

        /// The name, for people.
        public let localizedName: String

        /// The name of a symbol of Apple's.
        public let iconSystemName: String

        init(_ isUsable: Bool, _ localizedName: String, _ iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
        }

        /// Compares the properties.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Mechanism else { return false }
            return type(of: other) == type(of: self) && other.details == details
        }

        /// Hashes the name.
        public override var hash: Int { localizedName.hashValue }

        fileprivate var details: [AnyHashable] { [isUsable] }
    }

    /// A fingerprint reader.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// The kind: ``LABiometryType/touchID``.
        public let biometryType = LABiometryType.touchID

        /// Whether a finger is enrolled.
        public let isEnrolled: Bool

        /// Whether it is locked after too many touches that did not match.
        public let isLockedOut: Bool

        /// A hash that changes with the enrolled fingers, as in ``LADomainStateBiometry``.
        public let stateHash: Data

        /// Whether the sensor is out of reach, as in a closed laptop: never known here.
        public let builtInSensorInaccessible = false

        init(_ isUsable: Bool, isEnrolled: Bool, isLockedOut: Bool, stateHash: Data) {
            self.isEnrolled = isEnrolled
            self.isLockedOut = isLockedOut
            self.stateHash = stateHash
            super.init(isUsable, "Fingerprint", "touchid")
        }

        fileprivate override var details: [AnyHashable] { [isUsable, isEnrolled, isLockedOut, stateHash] }
    }

    /// The passcode.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// Whether one is set.
        public let isSet: Bool

        init(_ isUsable: Bool, isSet: Bool) {
            self.isSet = isSet
            super.init(isUsable, "Password", "lock")
        }

        fileprivate override var details: [AnyHashable] { [isUsable, isSet] }
    }

    /// A paired device; there are none here.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// A hash that changes with the paired devices; nil without any.
        public var stateHash: Data? { nil }
    }
}

extension LAEnvironment.State {
    /// The state at keychaind; empty without it.
    static func current() -> LAEnvironment.State {
        let finger = availability("biometryAny")
        let passcode = availability("devicePasscode")
        var biometry: LAEnvironment.MechanismBiometry?
        if let finger, finger.hasFingerprintReader {
            biometry = LAEnvironment.MechanismBiometry(
                finger.obstacle == nil,
                isEnrolled: finger.obstacle != "BiometryNotEnrolled",
                isLockedOut: finger.obstacle == "BiometryLockout",
                stateHash: LAContext().domainState.biometry.stateHash ?? Data()
            )
        }
        let password = passcode.map {
            LAEnvironment.MechanismUserPassword($0.obstacle == nil, isSet: $0.obstacle != "PasscodeNotSet")
        }
        return LAEnvironment.State(biometry, password)
    }

    private static func availability(_ expression: String) -> (obstacle: String?, hasFingerprintReader: Bool)? {
        let found = try? SharedClient.shared.wait { (client) throws(SecretServiceError) in
            try await client.authenticationAvailability(expression)
        }
        guard let found else { return nil }
        let name = found.obstacle.map { SecretServiceError(.accessDenied, "", errorName: $0).authenticationErrorName }
        return (name ?? nil, found.hasFingerprintReader)
    }
}
