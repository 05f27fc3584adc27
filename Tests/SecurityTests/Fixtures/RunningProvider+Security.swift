import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

extension RunningProvider {
    /// A client independent of the `SecItem` functions.
    func makeOwnClient() async throws -> SecretClient {
        try await SecretClient.connect(.init(bus: .address(bus.address)))
    }

    /// The files that the provider wrote, by their paths in its folder.
    func storedFiles() throws -> [String: Data] {
        let home = try #require(dataHome)
        let files = FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []
        let contents = files.compactMap { path in
            FileManager.default.contents(atPath: home + "/" + path).map { (path, $0) }
        }
        try #require(!contents.isEmpty)
        return Dictionary(uniqueKeysWithValues: contents)
    }

    /// The keychain files while the provider is stopped; it writes some changes in pauses.
    func storedKeychains() async throws -> [String: Data] {
        try await stop()
        let files = try storedFiles().filter { $0.key.contains(".keychain") }
        try #require(!files.isEmpty)
        try await start()
        return files
    }
}
