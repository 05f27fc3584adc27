/// How long fprintd, and a person, may take.
package struct FingerprintLimits: Sendable {
    /// For all that ``FingerprintReader/availability()`` asks, starting fprintd included.
    package var availability = Duration.seconds(5)

    /// For one call while a finger is matched; opening a reader may take a second or two.
    package var call = Duration.seconds(10)

    /// How long another program's use of the reader is waited for.
    package var busy = Duration.seconds(5)

    /// How soon a reader that is in use is tried again.
    package var retry = Duration.milliseconds(250)

    /// For a match from the moment when the reader is ready; fprintd itself would wait for a finger for ever.
    package var touch = Duration.seconds(120)

    /// How long the reader is kept after a finger that did not match, for the next match: opening it anew takes a while.
    package var keep = Duration.milliseconds(500)

    /// How many scans of one match may be no good.
    package var retries = 50

    /// The limits of the daemon.
    package init() {}
}
