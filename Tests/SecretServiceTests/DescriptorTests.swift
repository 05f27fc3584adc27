import KeychaindTestSupport
import Testing

struct DescriptorTests {
    @Test("calls with descriptors are refused and leave none open in the daemon")
    func descriptors_areNotKept() async throws {
        try await RunningService.withService { service in
            let result = try await Command.python(flood, environment: service.daemon.environment)
            #expect(result.succeeded, "\(result.errors)")
            #expect(try await service.client.readAlias("default") == .login)
        }
    }

    /// Six hundred calls that wait for the disk, each with sixteen descriptors in unknown properties.
    private let flood = """
        import dbus, dbus.lowlevel, os
        SERVICE = 'org.freedesktop.Secret.Service'
        COLLECTION = 'org.freedesktop.Secret.Collection'
        bus = dbus.SessionBus(private=True)
        service = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
        session = service.OpenSession('plain', dbus.String('', variant_level=1), dbus_interface=SERVICE)[1]
        null = os.open('/dev/null', os.O_RDONLY)

        def message():
            message = dbus.lowlevel.MethodCallMessage('org.freedesktop.secrets',
                '/org/freedesktop/secrets/aliases/default', COLLECTION, 'CreateItem')
            properties = {'x%d' % i: dbus.types.UnixFd(null, variant_level=1) for i in range(16)}
            secret = (session, dbus.Array([], 'y'), dbus.Array([1], 'y'), 'text/plain')
            message.append(properties, secret, False, signature='a{sv}(oayays)b')
            return message

        for _ in range(600):
            bus.send_message(message())
        try:
            bus.send_message_with_reply_and_block(message(), 30)
        except dbus.DBusException as error:
            assert error.get_dbus_name() == 'org.freedesktop.DBus.Error.InvalidArgs', error
        else:
            raise AssertionError('not refused')

        """
}
