import KeychaindAuthentication
package import KeychaindDBus

/// Appearance and reuse time of an authentication.
package struct AuthenticationSettings: Hashable, Sendable {
    /// The reason for the authentication, in the caller's words.
    var reason = ""

    /// Title of the cancel button; empty for the default.
    var cancelTitle = ""

    /// Title of the fallback button; empty for the default.
    var fallbackTitle = ""

    var hidesFallback = false

    /// Lifetime of the proof; zero allows one use.
    var reuse = GrantReuse.standard.lifetime

    /// Stated lifetime of grants; nil for that of the proof.
    private var statedGrantReuse: Duration?

    /// Lifetime of grants; zero allows one use.
    var grantReuse: Duration { statedGrantReuse ?? reuse }

    /// The age up to which a proof of another context of the caller serves in this one; zero for none.
    private(set) var acceptedAge = Duration.zero

    var allowsInteraction = true

    package init() {}

    var reuseMilliseconds: UInt32 { AuthenticationSettings.milliseconds(reuse) }

    var grantMilliseconds: UInt32 { AuthenticationSettings.milliseconds(grantReuse) }

    /// Throws `InvalidArgs` above the maximum.
    mutating func setReuse(milliseconds: UInt32) throws(BusError) {
        reuse = try AuthenticationSettings.duration(milliseconds)
    }

    /// Throws `InvalidArgs` above the maximum.
    package mutating func setGrantReuse(milliseconds: UInt32) throws(BusError) {
        statedGrantReuse = try AuthenticationSettings.duration(milliseconds)
    }

    var acceptedMilliseconds: UInt32 { AuthenticationSettings.milliseconds(acceptedAge) }

    /// Throws `InvalidArgs` above the maximum.
    mutating func setAcceptedAge(milliseconds: UInt32) throws(BusError) {
        acceptedAge = try AuthenticationSettings.duration(milliseconds)
    }

    private static func milliseconds(_ duration: Duration) -> UInt32 {
        UInt32(clamping: Int64(duration / .milliseconds(1)))
    }

    private static func duration(_ milliseconds: UInt32) throws(BusError) -> Duration {
        let duration = Duration.milliseconds(Int64(milliseconds))
        guard duration <= GrantReuse.maximum else {
            throw BusError(.invalidArguments, "an authentication can be reused for at most five minutes")
        }
        return duration
    }
}
