import DBus

/// The errors of fprintd's interface that mean something to us.
extension ErrorName {
    private init(fprint name: String) {
        self.init(rawValue: "net.reactivated.Fprint.Error." + name)
    }

    static let alreadyInUse = ErrorName(fprint: "AlreadyInUse")
    static let fprintInternal = ErrorName(fprint: "Internal")
    static let noEnrolledPrints = ErrorName(fprint: "NoEnrolledPrints")
    static let noSuchDevice = ErrorName(fprint: "NoSuchDevice")
    static let permissionDenied = ErrorName(fprint: "PermissionDenied")
}
