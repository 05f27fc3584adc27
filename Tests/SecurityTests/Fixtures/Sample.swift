import Foundation
import Security
import Testing

/// The files of `Samples`.
enum Sample {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Samples")

    /// The certificates.
    static let certificates = ["rsa", "ec256", "ec384", "nameless", "version1", "ed25519"]

    /// The keys, and what they are.
    static let keys: [Key] = [
        Key("rsa-private.der", kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate, 2048, "rsa-public.der"),
        Key("rsa-public.der", kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic, 2048, "rsa-public.der"),
        Key("ec256-private.bin", kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate, 256, "ec256-public.bin"),
        Key("ec256-public.bin", kSecAttrKeyTypeEC, kSecAttrKeyClassPublic, 256, "ec256-public.bin"),
        Key("ec384-private.bin", kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate, 384, "ec384-public.bin"),
        Key("ec384-public.bin", kSecAttrKeyTypeEC, kSecAttrKeyClassPublic, 384, "ec384-public.bin"),
        Key("ec521-private.bin", kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate, 521, "ec521-public.bin"),
        Key("ec521-public.bin", kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPublic, 521, "ec521-public.bin"),
    ]

    struct Key: CustomStringConvertible, Sendable {
        let description: String
        let type: String
        let keyClass: String
        let bits: Int
        let publicKey: String

        init(_ name: String, _ type: CFString, _ keyClass: CFString, _ bits: Int, _ publicKey: String) {
            description = name
            self.type = type as String
            self.keyClass = keyClass as String
            self.bits = bits
            self.publicKey = publicKey
        }

        /// The attributes that a program supplies.
        var attributes: CFDictionary {
            [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass] as [CFString: Any] as CFDictionary
        }

        func make() throws -> SecKey {
            try #require(SecKeyCreateWithData(Sample.data(description) as CFData, attributes, nil))
        }
    }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    static func certificate(_ name: String) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, try data(name + ".der") as CFData))
    }

    static func key(_ name: String) throws -> SecKey {
        try #require(keys.first { $0.description == name }).make()
    }
}
