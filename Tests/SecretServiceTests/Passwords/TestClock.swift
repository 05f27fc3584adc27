import KeychaindAuthentication

/// A clock set by the test.
///
/// `@unchecked Sendable`: used only on the event-loop thread.
final class TestClock: @unchecked Sendable {
    var now = Duration.seconds(1000)

    var clock: BootClock { BootClock(bootID: "boot") { self.now } }
}
