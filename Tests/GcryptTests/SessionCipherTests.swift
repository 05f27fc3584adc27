import Gcrypt
import Testing

@Suite struct SessionCipherTests {
    @Test(arguments: DiffieHellman.Group.allCases)
    func sharedSecret_ofBothSides_isTheSame(group: DiffieHellman.Group) throws {
        let mine = try DiffieHellman(group)
        let theirs = try DiffieHellman(group)
        let first = try theirs.publicKey.span.bytes.withUnsafeBytes { try mine.sharedSecret(with: $0) }
        let second = try mine.publicKey.span.bytes.withUnsafeBytes { try theirs.sharedSecret(with: $0) }
        #expect(first.array() == second.array())
        let size = first.count
        #expect(size == group.size)
    }

    @Test(arguments: 0..<50)
    func decrypt_encrypted_givesThePlaintext(count: Int) throws {
        let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
        let plaintext = try RandomBytes.nonce(count)
        let (iv, ciphertext) = try plaintext.withUnsafeBytes { try cipher.encrypt($0) }
        #expect(ciphertext.count == (count / 16 + 1) * 16)
        let decrypted = try ciphertext.withUnsafeBytes { ciphertext in
            try iv.withUnsafeBytes { try cipher.decrypt(ciphertext, iv: $0).array() }
        }
        #expect(decrypted == plaintext)
    }
}
