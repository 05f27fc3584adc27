import Foundation
import SecretServiceClient
import Security
import TestSupport
import Testing

/// A keychain that the `SecItem` functions use within a closure, and attributes that no other test has.
struct Keychain {
    let provider: RunningProvider

    /// A service, server or account of this test's own.
    let name = UUID().uuidString

    /// Runs a test with a provider that is there for all of them.
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
            try await body(Keychain(provider: provider))
        }
    }

    /// A query for a generic password of this test's service.
    func generic(_ account: String = "anna", _ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecAttrAccount: account], more)
    }

    /// A query for an internet password of this test's server.
    func internet(_ account: String = "anna", _ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassInternetPassword, kSecAttrServer: name, kSecAttrAccount: account], more)
    }

    /// A query for every generic password of this test's service.
    func all(_ more: [CFString: Any] = [:]) -> CFDictionary {
        query([kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecMatchLimit: kSecMatchLimitAll], more)
    }

    private func query(_ first: [CFString: Any], _ more: [CFString: Any]) -> CFDictionary {
        first.merging(more) { $1 } as CFDictionary
    }

    /// What a query finds; nil if that is nothing or nothing of the type.
    ///
    /// Another status than that nothing was found is an issue, so that it can be read there.
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

    /// What a query finds that also says what to give.
    func find<Result>(_ query: [CFString: Any], _ returned: [CFString: Any], as type: Result.Type) -> Result? {
        find(query.merging(returned) { $1 } as CFDictionary, as: type)
    }

    /// The secret that a query finds.
    func secret(_ query: CFDictionary) -> String? {
        guard let asked = query.mutableCopy() as? NSMutableDictionary else { return nil }
        asked[kSecReturnData as String] = true
        return find(asked, as: Data.self).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Bytes of a text.
func data(_ text: String) -> Data {
    Data(text.utf8)
}

extension [CFString: Any] {
    /// The query with one key more.
    func with(_ key: CFString, _ value: Any) -> CFDictionary {
        merging([key: value]) { $1 } as CFDictionary
    }
}
