import KeychaindDBus
import KeychaindGcrypt

extension SecretServiceError {
    /// Translates an error reply; the only mapping from D-Bus errors to codes.
    init(answered error: BusError) {
        self.init(Code(errorName: error.name.rawValue), error.message, errorName: error.name.rawValue)
    }

    init(reading error: BusError) {
        self.init(.invalidAnswer, error.message)
    }

    init(_ error: GcryptError) {
        self.init(.cryptographyFailed, error.reason)
    }
}

extension SecretServiceError {
    /// Whether the failed call was answered or never sent; otherwise it may still be waiting to be sent.
    var endsCall: Bool {
        switch code {
        case .timedOut, .cancelled, .disconnected: false
        default: true
        }
    }

    /// Whether the provider does not have the method.
    package var isOfMissingMethod: Bool {
        [ErrorName.unknownMethod, .unknownInterface].map(\.rawValue).contains(errorName)
    }

    /// Whether the provider may not have the interface of a property.
    var mayBeOfMissingInterface: Bool {
        [.noSuchObject, .notSupported, .invalidArguments].contains(code)
    }
}

extension SecretServiceError.Code {
    /// Providers answer an unknown object with each of three errors (spec #44).
    init(errorName: String) {
        self =
            switch errorName {
            case "org.freedesktop.Secret.Error.IsLocked": .locked
            case "org.freedesktop.Secret.Error.NoSession": .noSession
            case "org.freedesktop.Secret.Error.NoSuchObject",
                "org.freedesktop.DBus.Error.UnknownObject",
                "org.freedesktop.DBus.Error.UnknownMethod":
                .noSuchObject
            case "org.freedesktop.Secret.Error.AlreadyExists": .alreadyExists
            case "org.freedesktop.DBus.Error.InvalidArgs",
                "org.freedesktop.DBus.Error.InvalidSignature",
                "org.freedesktop.DBus.Error.PropertyReadOnly":
                .invalidArguments
            case "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory": .limitExceeded
            case "org.freedesktop.DBus.Error.AccessDenied",
                "org.freedesktop.DBus.Error.AuthFailed",
                "org.gnome.keyring.Error.Denied":
                .accessDenied
            case "org.freedesktop.DBus.Error.NotSupported",
                "org.freedesktop.DBus.Error.UnknownInterface",
                "org.freedesktop.DBus.Error.UnknownProperty":
                .notSupported
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
                .providerGone
            case "org.freedesktop.DBus.Error.NoReply",
                "org.freedesktop.DBus.Error.Timeout",
                "org.freedesktop.DBus.Error.TimedOut":
                .timedOut
            case "org.freedesktop.DBus.Error.Disconnected": .disconnected
            default: .providerFailed
            }
    }
}
