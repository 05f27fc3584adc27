import LocalAuthentication

/// What reading a password gave.
struct Reading: Hashable, Sendable {
    let status: OSStatus
    let secret: String?

    init(_ status: OSStatus, _ secret: String? = nil) {
        self.status = status
        self.secret = secret
    }

    /// A password that was read.
    static func secret(_ secret: String) -> Reading {
        Reading(errSecSuccess, secret)
    }

    /// None.
    static func failed(_ status: OSStatus) -> Reading {
        Reading(status)
    }
}
