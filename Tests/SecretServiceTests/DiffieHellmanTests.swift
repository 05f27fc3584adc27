import Foundation
import KeychaindDBus
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

struct DiffieHellmanTests {
    /// The prime of the Second Oakley Group (RFC 2409, section 6.2).
    private static let prime: [UInt8] = {
        let text = """
            FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD\
            EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
            EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF
            """
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }()

    private static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    @Test("#28 a public key may have any number of leading zeros", arguments: [0, 1, 2, 128, 1000])
    func publicKey_leadingZeros_areAccepted(zeros: Int) async throws {
        let (client, plain) = try await SharedService.client()
        let item = try await client.createItem(session: plain)
        let session = try await EncryptedSession(with: client, leadingZeros: zeros)
        #expect(try await session.decrypt(client.secret(of: item, session: session.path)) == Array("secret".utf8))
    }

    @Test("#27 #28 #30 a public key of one byte gives the specified key")
    func publicKey_ofOneByte_isAccepted() async throws {
        let (client, plain) = try await SharedService.client()
        let item = try await client.createItem(session: plain)
        // The generator to the power of one: the shared secret is then the service's public key.
        let (output, session) = try await client.openSession(Self.algorithm, .bytes(ByteArray([2])))
        guard case .bytes(let serviceKey) = output else {
            Issue.record("the output is not an ay")
            return
        }
        _ = try Gcrypt.initialize(lockedBytes: 16 << 20)
        let cipher = try SessionCipher(sharedSecret: SecureBytes(copying: serviceKey.bytes))
        let secret = try await client.secret(of: item, session: session)
        let plaintext = try secret.value.span.withUnsafeBytes { (value) throws(GcryptError) in
            try secret.parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in
                try cipher.decrypt(value, iv: iv)
            }
        }
        #expect(plaintext.withUnsafeBytes { [UInt8]($0) } == Array("secret".utf8))
    }

    @Test("#34 a degenerate public key is InvalidArgs")
    func publicKey_degenerate_isInvalidArgs() async throws {
        let (client, _) = try await SharedService.client()
        var minusOne = Self.prime
        minusOne[127] -= 1
        var minusTwo = Self.prime
        minusTwo[127] -= 2
        for key in [
            [], [0], [1], [0, 0, 1], minusOne, Self.prime, [1] + Self.prime, [UInt8](repeating: 255, count: 200),
        ] {
            await #expect(throws: BusError.invalidArgs) {
                try await client.openSession(Self.algorithm, .bytes(ByteArray(key)))
            }
        }
        for key in [[2], minusTwo] {
            _ = try await client.openSession(Self.algorithm, .bytes(ByteArray(key)))
        }
    }

    /// One session in 85 has a leading zero in the shared secret or a public key: there are as many as that takes.
    @Test("#26 #27 #28 #29 #30 #31 #32 handshakes with another implementation agree, also about leading zeros")
    func handshakes_withAnotherImplementation_agree() async throws {
        let service = try await SharedService.get()
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(secret: "sixteen bytes ok", session: session)
        let result = try await Command.python(
            Self.handshakes,
            [item.rawValue, String(CaseSample.size(of: 1000, oneIn: 10))],
            environment: service.daemon.environment
        )
        #expect(result.succeeded, "\(result.errors)")
    }

    private static let handshakes = """
        import sys, os, hmac, hashlib, dbus
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        item, count = sys.argv[1], int(sys.argv[2])
        PRIME = int.from_bytes(bytes([\(prime.map(\.description).joined(separator: ","))]), 'big')
        bus = dbus.SessionBus()
        proxy = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
        service = dbus.Interface(proxy, 'org.freedesktop.Secret.Service')
        stored = dbus.Interface(bus.get_object('org.freedesktop.secrets', item), 'org.freedesktop.Secret.Item')
        outputs, short = [], 0
        while len(outputs) < count or not short:
            exponent = int.from_bytes(os.urandom(32), 'big') | 1
            public = pow(2, exponent, PRIME)
            # Without leading zeros, as the text allows.
            sent = public.to_bytes((public.bit_length() + 7) // 8, 'big')
            output, session = service.OpenSession(
                'dh-ietf1024-sha256-aes128-cbc-pkcs7', dbus.ByteArray(sent, variant_level=1), byte_arrays=True)
            assert len(output) == 128, len(output)
            outputs.append(bytes(output))
            shared = pow(int.from_bytes(output, 'big'), exponent, PRIME).to_bytes(128, 'big')
            short += shared[0] == 0 or len(sent) < 128 or output[0] == 0
            extracted = hmac.new(bytes(32), shared, hashlib.sha256).digest()
            key = hmac.new(extracted, b'\\x01', hashlib.sha256).digest()[:16]
            _, iv, value, _ = stored.GetSecret(session, byte_arrays=True)
            decryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(iv))).decryptor()
            padded = decryptor.update(bytes(value)) + decryptor.finalize()
            assert padded == b'sixteen bytes ok' + bytes([16]) * 16, (len(outputs), padded)
            dbus.Interface(bus.get_object('org.freedesktop.secrets', session, introspect=False),
                           'org.freedesktop.Secret.Session').Close()
        assert len(set(outputs)) == len(outputs)
        """
}
