import Foundation
import SecretServiceClient
import TestSupport
import Testing

extension RunningProvider {
    /// A client that has nothing to do with the `SecItem` functions.
    func makeOwnClient() async throws -> SecretClient {
        try await SecretClient.connect(.init(bus: .address(bus.address)))
    }

    /// Everything that the provider has written, by the names of the files.
    func storedFiles() throws -> [String: Data] {
        let home = try #require(dataHome)
        let files = FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []
        let contents = files.map { ($0, FileManager.default.contents(atPath: home + "/" + $0)) }
        try #require(!contents.isEmpty)
        return Dictionary(uniqueKeysWithValues: contents).compactMapValues { $0 }
    }
}
