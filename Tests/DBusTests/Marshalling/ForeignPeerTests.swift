import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Interoperability of marshalling with dbus-python, in both directions.
@Suite(.onLoop)
struct ForeignPeerTests {
    @Test
    @BusActor
    func echo_valuesOfForeignPeer_areReturned() async throws {
        let server = try await TestServer.start()
        let result = try await RawCaller(server.bus).run(
            """
            def echo(signature, *values):
                method = 'Echo' + ''.join('_%d' % ord(sign) for sign in signature)
                for value in values:
                    reply = call('org.example.Echo', method, value, signature=signature)
                    assert reply.get_signature() == signature, (signature, reply.get_signature())
                    assert reply.get_args_list() == [value], (signature, value, reply.get_args_list())

            secret = (dbus.ObjectPath('/s/1'), dbus.Array(range(16), 'y'), dbus.Array([0, 10, 255], 'y'), 'text/plain')
            empty = (dbus.ObjectPath('/'), dbus.Array([], 'y'), dbus.Array([], 'y'), '')
            echo('b', True, False)
            echo('y', 0, 255)
            echo('i', -2**31, -1, 0, 2**31 - 1)
            echo('u', 0, 2**32 - 1)
            echo('t', 0, 2**63, 2**64 - 1)
            echo('s', '', 'a', '\\u043a\\u043b\\u044e\\u0447 \\U0001f511', 'x' * 100000, 'two\\nlines')
            echo('o', '/', '/a/b_1')
            echo('ay', [], [0], list(range(256)) * 300)
            echo('as', [], [''], ['a', '', 'b'] * 1000)
            echo('ao', [], ['/', '/a'] * 500)
            echo('at', [], [0, 2**64 - 1])
            echo('aay', [], [[]], [[1], [], [2, 3]])
            echo('aas', [], [[]], [['a'], [], ['b', 'c']])
            echo('a{ss}', {}, {'': ''}, {str(i): 'v' * i for i in range(100)})
            echo('a{sas}', {}, {'a': []}, {'a': ['b', 'c'], 'd': []})
            echo('a{ua{ss}}', {}, {1: {}}, {1: {'a': 'b'}, 2**32 - 1: {}})
            echo('(oayays)', secret, empty)
            echo('a{o(oayays)}', {}, {'/a': secret, '/b': empty})
            echo('v', True, dbus.Int32(-1), dbus.UInt32(2**32 - 1), dbus.UInt64(2**64 - 1), 'text', dbus.ObjectPath('/a'),
                 dbus.Array([], 'y'), dbus.Array([1, 2], 'y'), dbus.Array([], 'o'), dbus.Array(['/a'], 'o'),
                 dbus.Array([], 's'), dbus.Array(['a'], 's'), dbus.Dictionary({}, 'ss'), dbus.Dictionary({'a': 'b'}, 'ss'),
                 dbus.String('nested', variant_level=3))
            properties = {'org.freedesktop.Secret.Item.Label': 'text',
                          'org.freedesktop.Secret.Item.Attributes': dbus.Dictionary({'a': 'b'}, 'ss')}
            echo('a{sv}', {}, properties)
            echo('aa{sv}', [], [{}], [properties, {}])
            """
        )
        #expect(result.succeeded, "\(result.errors)")
    }

    @Test
    @BusActor
    func echo_randomValues_areReturned() async throws {
        let peer = try await EchoPeer()
        for seed in 1000..<1150 as Range<UInt64> {
            var random = RandomValues(seed: seed)
            let variant = random.variant()
            let properties = random.properties()
            let bytes = random.bytes()
            let names = random.list { $0.list { $0.string() } }
            let number = random.uint64()
            let dictionary = random.stringDictionary()
            let reply = try await peer.echo { $0.append(variant, properties, bytes, names, number, dictionary) }
            let read = try reply.read(
                Variant.self,
                [String: Variant].self,
                ByteArray.self,
                [[String]].self,
                UInt64.self,
                [String: String].self
            )
            #expect(read.0 == variant, "seed \(seed)")
            #expect(read.1 == properties, "seed \(seed)")
            #expect(read.2 == bytes && read.3 == names && read.4 == number && read.5 == dictionary, "seed \(seed)")
        }
    }

    @Test
    @BusActor
    func echo_largeSecret_isReturned() async throws {
        let peer = try await EchoPeer()
        let secret = WireSecret(
            session: ObjectPath(unchecked: "/s"),
            parameters: Array(0..<16),
            value: (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        )
        #expect(try await peer.echo { $0.append(secret) }.read(WireSecret.self) == secret)
        #expect(
            try await peer.echo { $0.append([secret.session: secret]) }.read([ObjectPath: WireSecret].self).count == 1
        )
    }
}
