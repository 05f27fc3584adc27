import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

/// A keychain for the `SecItem` functions in a closure, with attributes unique to the test.
struct Keychain {
    let provider: RunningProvider

    /// A service, server or account of this test.
    let name = UUID().uuidString

    /// Runs a test with the shared provider.
    static func with(
        _ provider: TestedProvider = .keychaind,
        _ body: (Keychain) async throws -> Void
    ) async throws {
        try await with(try await provider.shared(), body)
    }

    /// Runs a test with a provider of its own.
    static func withOwn(
        _ provider: TestedProvider = .keychaind,
        _ body: (Keychain) async throws -> Void
    ) async throws {
        try await provider.withProvider { try await with($0, body) }
    }

    private static func with(_ provider: RunningProvider, _ body: (Keychain) async throws -> Void) async throws {
        try await KeychainBus.$current.withValue(.address(provider.bus.address)) {
            try await OwnThread.run { try await body(Keychain(provider: provider)) }
        }
    }

    /// A query for a generic password of this test.
    func generic(_ account: String = "anna", _ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecAttrAccount: account], more)
    }

    /// A query for an internet password of this test.
    func internet(_ account: String = "anna", _ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassInternetPassword, kSecAttrServer: name, kSecAttrAccount: account], more)
    }

    /// A query for all generic passwords of this test.
    func all(_ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecMatchLimit: kSecMatchLimitAll], more)
    }

    private func query(_ first: [CFString: Any], _ more: [CFString: Any]) -> CFDictionary {
        first.merging(more) { $1 } as CFDictionary
    }

    /// The result of a query; nil if there is none of the type.
    ///
    /// A status other than success and "not found" is reported as an issue.
    func find<Result>(_ query: CFDictionary, as type: Result.Type = Result.self) -> Result? {
        var result: CFTypeRef?
        switch SecItemCopyMatching(query, &result) {
        case errSecSuccess: return result as? Result
        case errSecItemNotFound: return nil
        case let status:
            Issue.record("a search ends with the status \(status)")
            return nil
        }
    }

    /// The result of a query with requested results.
    func find<Result>(_ query: [CFString: Any], _ returned: [CFString: Any], as type: Result.Type) -> Result? {
        find(query.merging(returned) { $1 } as CFDictionary, as: type)
    }

    /// The secret in the result of a query.
    func secret(_ query: CFDictionary) -> String? {
        guard let asked = query.mutableCopy() as? NSMutableDictionary else { return nil }
        asked[kSecReturnData as String] = true
        return find(asked, as: Data.self).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The UTF-8 bytes of a text.
func data(_ text: String) -> Data {
    Data(text.utf8)
}

extension [CFString: Any] {
    /// The query with another key.
    func with(_ key: CFString, _ value: Any) -> CFDictionary {
        merging([key: value]) { $1 } as CFDictionary
    }
}
