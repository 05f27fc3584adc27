import KeychaindAuthentication
import KeychaindSecretService
import KeychaindTestSupport

/// A clock set by the test.
///
/// `@unchecked Sendable`: used only on the event-loop thread.
final class TestClock: @unchecked Sendable {
    var now = Duration.seconds(1000)

    var clock: BootClock { BootClock(bootID: "boot") { self.now } }
}

extension ServiceLimits {
    /// Limits longer than a successful test.
    static var patient: ServiceLimits {
        var limits = ServiceLimits()
        limits.settlingTime = Patience.limit
        limits.lookTime = Patience.limit
        return limits
    }
}
