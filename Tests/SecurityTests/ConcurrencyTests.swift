import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Synchronization
import Testing

struct ConcurrencyTests {
    /// The number of operations of all threads, which the environment can raise.
    private static let count = ProcessInfo.processInfo.environment["KEYCHAIN_OPERATIONS"].flatMap(Int.init) ?? 800

    @Test("Eight threads add, find, change and delete their own and shared items concurrently")
    func operations_onEightThreads_allSucceed() async throws {
        try await Keychain.withOwn { keychain in
            let failures = Mutex<[String]>([])
            let bus = KeychainBus.current
            let name = keychain.name
            let threads = (0..<8).map { number in
                JoinableThread {
                    KeychainBus.$current.withValue(bus) {
                        let worker = Worker(name: name, number: number)
                        for turn in 0..<(Self.count / 8) {
                            guard let failure = worker.run(turn) else { continue }
                            failures.withLock { $0.append("thread \(number), turn \(turn): \(failure)") }
                        }
                    }
                }
            }
            for thread in threads { await thread.join() }
            #expect(failures.withLock { $0 } == [])
        }
    }

    /// A thread that can be joined.
    private final class JoinableThread: Sendable {
        private let isDone: AsyncStream<Void>

        init(_ body: @escaping @Sendable () -> Void) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            isDone = stream
            Thread.detachNewThread {
                body()
                continuation.finish()
            }
        }

        func join() async {
            for await _ in isDone {}
        }
    }

    /// The work of one thread.
    private struct Worker: Sendable {
        let name: String
        let number: Int

        /// Runs one operation; returns a wrong result.
        func run(_ turn: Int) -> String? {
            let own: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecAttrAccount: "\(number)",
            ]
            let secret = data("\(turn / 8)")
            var result: CFTypeRef?
            switch turn % 8 {
            case 0: return expect([errSecSuccess], SecItemAdd(own.with(kSecValueData, secret), nil))
            case 1: return expect([errSecDuplicateItem], SecItemAdd(own as CFDictionary, nil))
            case 2:
                let status = SecItemCopyMatching(own.with(kSecReturnData, true), &result)
                return expect([errSecSuccess], status) ?? (result as? Data == secret ? nil : "another secret")
            case 3:
                let change = [kSecAttrComment: "c", kSecValueData: data("new")] as [CFString: Any]
                return expect([errSecSuccess], SecItemUpdate(own as CFDictionary, change as CFDictionary))
            case 4:
                let status = SecItemCopyMatching(own.with(kSecReturnAttributes, true), &result)
                let comment = (result as? [String: Any])?[kSecAttrComment as String] as? String
                return expect([errSecSuccess], status) ?? (comment == "c" ? nil : "another comment")
            case 5: return expect([errSecSuccess], SecItemDelete(own as CFDictionary))
            case 6:
                // Exactly one thread adds the shared item.
                let shared = own.merging([kSecAttrAccount: "shared"]) { $1 }
                return expect([errSecSuccess, errSecDuplicateItem], SecItemAdd(shared as CFDictionary, nil))
            default:
                let shared = own.merging([kSecAttrAccount: "shared"]) { $1 }
                return expect([errSecSuccess, errSecItemNotFound], SecItemDelete(shared as CFDictionary))
            }
        }

        private func expect(_ allowed: [OSStatus], _ status: OSStatus) -> String? {
            allowed.contains(status) ? nil : "status \(status)"
        }
    }
}
