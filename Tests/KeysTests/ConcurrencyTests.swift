import Foundation
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

struct ConcurrencyTests {
    @Test("Many threads use many keys with a small pool of locked memory")
    func sign_onManyThreads_succeeds() async throws {
        var keys: [(KeyMaterial, KeyAlgorithm)] = []
        for key in try Keys.all(.rsa) { keys.append((key, .rsaSignaturePSS(.sha256, .message))) }
        for key in try Keys.all(.ec) { keys.append((key, .ecdsaSignature(.sha256, .message, .x962))) }
        // Held at the same time, as a server holds the keys of its clients.
        let copies = try (0..<64).map { index in
            let (key, algorithm) = keys[index % keys.count]
            return (try KeyMaterial(key.bytes, type: key.type, keyClass: .private), algorithm)
        }
        let threads = 32
        let results = Recorder<(thread: Int, result: Result<Bool, any Error>)>()
        for thread in 0..<threads {
            Thread.detachNewThread {
                let result = Result {
                    try stride(from: thread, to: copies.count, by: threads).allSatisfy { index in
                        let (key, algorithm) = copies[index]
                        let signature = try key.sign([1, 2, 3], algorithm)
                        return try key.publicKey?.verify(signature, of: [1, 2, 3], algorithm) == true
                    }
                }
                results.record((thread, result))
            }
        }
        for thread in 0..<threads {
            #expect(try await results.first("signatures") { $0.thread == thread }.result.get())
        }
    }
}
