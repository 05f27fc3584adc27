/// The version of the daemon.
enum Version {
    static let current = "0.1.0"
}
