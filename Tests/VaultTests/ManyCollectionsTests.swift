import Foundation
import KeychaindModel
import KeychaindVault
import Testing

/// Threads are bounded by the work, descriptors by the number of keychains.
@VaultActor
@Suite struct ManyCollectionsTests {
    private static let mostThreads = 8

    private let folder = TemporaryFolder()

    private func opened() async throws -> Vault {
        try await Vault.opened(Fixture.configuration(folder))
    }

    private func made(_ count: Int, in vault: Vault) async throws -> [Collection] {
        var collections: [Collection] = []
        for number in 0..<count {
            collections.append(try await vault.createCollection(label: "many\(number)", password: Fixture.bytes("pw")))
        }
        return collections
    }

    /// The threads of this process that have worked for a collection.
    private var threads: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.filter { thread in
            (try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8))?.hasPrefix("many") == true
        }.count
    }

    @Test func allCollectionsUnlockedAndWritten_haveFewThreads() async throws {
        var vault = try await opened()
        let count = 100
        _ = try await made(count, in: vault)
        #expect(folder.openKeychains.count <= count)
        await vault.close()

        vault = try await opened()
        #expect(folder.openKeychains.count <= count)
        let collections = vault.collections.filter { $0.label.hasPrefix("many") }
        #expect(collections.count == count)
        for collection in collections { try await collection.unlock(with: Fixture.bytes("pw")) }
        let additions = collections.map { collection in
            Task { @VaultActor in
                for number in 0..<3 { try await collection.add("n", ["n": "\(number)"], secret: collection.label) }
            }
        }
        for addition in additions { try await addition.value }
        #expect(folder.openKeychains.count <= count)
        #expect(threads <= Self.mostThreads)
        for collection in collections { #expect(collection.itemIDs.count == 3 && collection.problem == nil) }
        await vault.close()
        #expect(folder.openKeychains.isEmpty)

        vault = try await opened()
        for collection in vault.collections where collection.label.hasPrefix("many") {
            try await collection.unlock(with: Fixture.bytes("pw"))
            #expect(collection.itemIDs.count == 3 && collection.problem == nil)
        }
        await vault.close()
    }
}
