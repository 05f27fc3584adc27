/// How long polkit, and a person, may take.
package struct PolkitLimits: Sendable {
    /// For what needs no person, starting polkit included.
    package var check = Duration.seconds(5)

    /// For the answer of a person.
    package var answer = Duration.seconds(300)

    /// The limits of the daemon.
    package init() {}
}
