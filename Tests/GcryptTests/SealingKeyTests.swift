import Gcrypt
import Testing

@Suite struct SealingKeyTests {
    @Test(arguments: [0, 1, 15, 16, 17, 32, 1000])
    func open_sealed_givesThePlaintext(count: Int) throws {
        let key = try SealingKey(SecureBytes.random(count: 32, in: .locked))
        let plaintext = try RandomBytes.nonce(count)
        let sealed = try key.seal(plaintext, [1, 2, 3])
        #expect(sealed.count == count + SealingKey.overhead)
        #expect(try key.open(sealed, [1, 2, 3]) == plaintext)
    }
}
