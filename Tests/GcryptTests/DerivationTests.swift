import Gcrypt
import Testing

@Suite struct DerivationTests {
    @Test func hkdf_firstCaseOfRFC5869_isAsPublished() throws {
        let key = try SecureBytes(copying: [UInt8](repeating: 0x0b, count: 22))
        let derived = try HKDFSHA256.derive(
            from: key,
            salt: bytes(hexadecimal: "000102030405060708090a0b0c"),
            info: bytes(hexadecimal: "f0f1f2f3f4f5f6f7f8f9"),
            count: 42,
            in: .locked
        )
        let expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        #expect(derived.array() == bytes(hexadecimal: expected))
    }

    @Test func argon2id_vectorOfRFC9106_isAsPublished() throws {
        let derived = try Argon2id(memoryKiB: 32, iterations: 3, lanes: 4).derive(
            password: SecureBytes(copying: [UInt8](repeating: 1, count: 32)),
            salt: [UInt8](repeating: 2, count: 16),
            pepper: SecureBytes(copying: [UInt8](repeating: 3, count: 8)),
            associatedData: [UInt8](repeating: 4, count: 12),
            count: 32
        )
        let expected = "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"
        #expect(derived.array() == bytes(hexadecimal: expected))
    }
}
