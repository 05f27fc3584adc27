import Authentication
import DBus

/// How a caller wants an authentication to look, and how long it is to last.
struct AuthenticationSettings: Hashable, Sendable {
    /// Why the person should authenticate, in the caller's words.
    var reason = ""

    /// On the button that cancels; empty for the usual text.
    var cancelTitle = ""

    /// On the button that falls back to something else; empty for the usual text.
    var fallbackTitle = ""

    /// Whether there is no such button.
    var hidesFallback = false

    /// How long what was proved serves; zero is good for one use.
    var reuse = GrantReuse.standard.lifetime

    /// How long a grant lasts, if that is said; else as long as what was proved serves.
    private var statedGrantReuse: Duration?

    /// How long a grant lasts; zero is good for one use.
    var grantReuse: Duration { statedGrantReuse ?? reuse }

    /// Whether a person may be asked at all.
    var allowsInteraction = true

    /// The reuse as it is told on the bus.
    var reuseMilliseconds: UInt32 { AuthenticationSettings.milliseconds(reuse) }

    /// The time of grants as it is told on the bus.
    var grantMilliseconds: UInt32 { AuthenticationSettings.milliseconds(grantReuse) }

    /// Takes a reuse from the bus; throws `InvalidArgs` if it is too long.
    mutating func setReuse(milliseconds: UInt32) throws(BusError) {
        reuse = try AuthenticationSettings.duration(milliseconds)
    }

    /// Takes a time of grants from the bus; throws `InvalidArgs` if it is too long.
    mutating func setGrantReuse(milliseconds: UInt32) throws(BusError) {
        statedGrantReuse = try AuthenticationSettings.duration(milliseconds)
    }

    private static func milliseconds(_ duration: Duration) -> UInt32 {
        UInt32(clamping: Int64(duration / .milliseconds(1)))
    }

    private static func duration(_ milliseconds: UInt32) throws(BusError) -> Duration {
        let duration = Duration.milliseconds(Int64(milliseconds))
        guard duration <= GrantReuse.maximum else {
            throw BusError(.invalidArguments, "an authentication serves for at most five minutes")
        }
        return duration
    }
}
