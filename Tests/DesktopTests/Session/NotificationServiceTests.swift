import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport
import Testing

/// Notifications, shown and withdrawn while the desktop's service is slow.
@Suite(.onLoop)
struct NotificationServiceTests {
    private func notification(_ summary: String) -> DesktopNotification {
        DesktopNotification(summary: Text(verbatim: summary), body: Text(verbatim: ""), actions: [])
    }

    @Test @BusActor
    func notification_afterAWithdrawalDuringTheCall_isShown() async throws {
        let bus = try await PrivateBus()
        let desktop = try FakeNotifications(on: bus)
        let hold = Promise<Void>()
        desktop.hold = hold
        let service = NotificationService(on: try bus.connect())
        service.show(notification("first"), about: "subject")
        let first = try await desktop.shown.first("the notification")
        service.withdraw("subject")
        service.show(notification("second"), about: "subject")
        desktop.hold = nil
        hold.fulfill()
        let second = try await desktop.shown.first("the other notification", after: 1)
        #expect(second.summary == "second")
        _ = try await desktop.withdrawn.first("the end of the first") { $0 == first.number }
        #expect(!desktop.withdrawn.all.contains(second.number))
    }

    @Test("a name is no markup for a desktop that takes the text for some")
    @BusActor
    func notification_markup_isText() async throws {
        let bus = try await PrivateBus()
        let desktop = try FakeNotifications(on: bus)
        let name = "\u{D4E}<b>a</b> &#10;&#x202E;&lt; AT&T & b;"
        let notification = DesktopNotification(summary: Text(verbatim: ""), body: Text(verbatim: name))
        let service = NotificationService(on: try bus.connect())
        service.show(notification, about: "subject")
        let shown = try await desktop.shown.first("the notification")
        service.withdraw("subject")
        #expect(shown.body == "\u{D4E}‹b>a‹/b> ＆#10;＆#x202E;＆lt; AT&T & b;")
    }
}
