/// How long an authentication serves for further releases of the same object.
package struct GrantReuse: Hashable, Sendable {
    /// The longest that anybody gets, as Apple's (`LATouchIDAuthenticationMaximumAllowableReuseDuration`).
    package static let maximum = Duration.seconds(300)

    /// What a caller gets that has not asked for another one.
    package static let standard = GrantReuse(.seconds(10))

    /// How long a grant for a single release waits for it.
    package static let singleReleaseTime = Duration.seconds(10)

    /// Whether it is for one release only.
    package let isSingle: Bool

    /// How long the grant is good for, in any case.
    package let lifetime: Duration

    /// Allows releases for a time, cut to ``maximum``; zero or less means one release.
    package init(_ duration: Duration) {
        isSingle = duration <= .zero
        lifetime = isSingle ? GrantReuse.singleReleaseTime : min(duration, GrantReuse.maximum)
    }

    /// One release.
    package static let single = GrantReuse(.zero)
}
