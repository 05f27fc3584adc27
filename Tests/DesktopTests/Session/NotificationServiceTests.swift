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

    @Test("a service that takes over during a call gets the notification that the former has not taken")
    @BusActor
    func notification_replacedServiceDuringTheCall_isShownByTheNext() async throws {
        let bus = try await PrivateBus()
        let former = try FakeNotifications(on: bus)
        let hold = Promise<Void>()
        former.hold = hold
        defer { hold.fulfill() }
        let service = NotificationService(on: try bus.connect())
        service.show(notification("first"), about: "subject")
        _ = try await former.shown.first("the call")
        let next = try FakeNotifications(on: bus)
        former.crash()
        #expect(try await next.shown.first("the notification").summary == "first")
    }

    /// A notification with a button that is pressed, or closed, before keychaind knows its number.
    @BusActor
    private func showEarly(
        _ desktop: FakeNotifications,
        _ service: NotificationService,
        _ body: (FakeNotifications.Notification) throws -> Void
    ) async throws -> Recorder<String> {
        let (hold, events) = (Promise<Void>(), Recorder<String>())
        desktop.hold = hold
        let button = DesktopNotification.Action(Text(verbatim: "Open")) { events.record("pressed") }
        let notification = DesktopNotification(
            summary: Text(verbatim: "early"),
            body: Text(verbatim: ""),
            actions: [button]
        )
        let start = desktop.shown.count
        service.show(notification, about: "subject") { events.record("shown") }
        try body(try await desktop.shown.first("the notification", after: start))
        desktop.hold = nil
        hold.fulfill()
        _ = try await events.first("the number") { $0 == "shown" }
        return events
    }

    @Test("a button that is pressed before the service has told the number acts, once")
    @BusActor
    func button_pressedBeforeTheReply_acts() async throws {
        let bus = try await PrivateBus()
        let desktop = try FakeNotifications(on: bus, capabilities: ["actions"])
        let service = NotificationService(on: try bus.connect())
        let events = try await showEarly(desktop, service) { notification in
            desktop.pressAtOnce("Open", of: notification)
            desktop.pressAtOnce("Open", of: notification)
        }
        _ = try await events.first("the action") { $0 == "pressed" }
        // The next one of the subject has another button.
        let others = try await showEarly(desktop, service) { _ in }
        let notification = try #require(desktop.shown.all.last)
        try await desktop.press("Open", of: notification)
        _ = try await others.first("the other action") { $0 == "pressed" }
        #expect(events.all == ["shown", "pressed"])
    }

    @Test("a notification that is closed before the service has told the number is not replaced by the next")
    @BusActor
    func notification_closedBeforeTheReply_isForgotten() async throws {
        let bus = try await PrivateBus()
        let desktop = try FakeNotifications(on: bus, capabilities: ["actions"])
        let service = NotificationService(on: try bus.connect())
        _ = try await showEarly(desktop, service) { desktop.close($0) }
        _ = try await showEarly(desktop, service) { _ in }
        #expect(desktop.shown.all.map(\.replaced) == [0, 0])
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
