import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// Keys and certificates stored through Apple's API, as other programs see them.
struct ForeignReaderTests {
    /// Finds both by the attributes in `docs/attributes.md`, and computes the expected values independently.
    private static let script = """
        import hashlib, secretstorage
        from cryptography import x509
        from cryptography.hazmat.primitives import serialization

        bus = secretstorage.dbus_init()
        item, = secretstorage.search_items(bus, {"xdg:schema": "org.keychaind.Certificate"})
        found = item.get_attributes()
        certificate = x509.load_der_x509_certificate(item.get_secret())
        public = certificate.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
        identifier = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
        expected = {
            "certificate-type": "3",
            "issuer": certificate.issuer.public_bytes().hex(),
            "subject": certificate.subject.public_bytes().hex(),
            "serial-number": certificate.serial_number.to_bytes(4, "big").hex(),
            "keychain:public-key-hash": hashlib.sha1(public).hexdigest(),
            "keychain:subject-key-id": identifier.hex(),
        }
        for name, value in expected.items():
            assert found[name] == value, (name, value, found[name])
        query = {"key-class": "private", "key-type": "rsa", "application-label": found["keychain:public-key-hash"]}
        key, = secretstorage.search_items(bus, query)
        private = serialization.load_der_private_key(key.get_secret(), None)
        assert private.public_key().public_numbers() == certificate.public_key().public_numbers()
        print(item.get_label())
        """

    @Test("A Python program finds an identity by its attributes, and reads it with its own library")
    func identity_isReadByPython() async throws {
        try await Keychain.withOwn { keychain in
            for object in [try Sample.certificate("rsa"), try Sample.key("rsa-private.der")] as [Any] {
                let item = [kSecValueRef: object] as [CFString: Any]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            }
            let result = try await Command.python(Self.script, environment: keychain.provider.bus.environment)
            #expect(result.succeeded, "\(result.errors)")
            #expect(result.text == "Anna Example\n")
        }
    }
}
