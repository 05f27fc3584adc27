import DBus

extension AuthenticationError {
    /// What an error that fprintd or the bus has answered with, while a finger was to be matched, is in Apple's terms.
    init(matching error: BusError) {
        switch error.name {
        case .noEnrolledPrints:
            self.init(.biometryNotEnrolled, reason: "no finger is enrolled")
        case .alreadyInUse:
            self.init(.systemCancel, reason: "another program uses the fingerprint reader")
        case .permissionDenied, .accessDenied:
            self.init(.biometryNotAvailable, reason: "the system does not let this session use the reader: \(error)")
        case .noReply, .timeout:
            self.init(.biometryNotAvailable, reason: "fprintd does not answer")
        // A driver that fails to open or close its reader has mostly lost it; an object that is not there any more, surely.
        case .noSuchDevice, .fprintInternal, .unknownObject, .unknownMethod, .unknownInterface:
            self.init(.biometryDisconnected, reason: "the fingerprint reader is gone: \(error)")
        case .disconnected, .nameHasNoOwner:
            self.init(.biometryDisconnected, reason: "fprintd is gone: \(error)")
        default:
            self.init(.biometryNotAvailable, reason: "fprintd fails: \(error)")
        }
    }
}
