import Foundation
import KeychaindModel
import KeychaindVault
import Testing

/// Threads and descriptors are bounded by the work, not by the number of keychains.
@VaultActor
@Suite struct ManyCollectionsTests {
    private static let mostOpenFiles = 64
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

    @Test func allCollectionsUnlockedAndWritten_haveFewThreadsAndOpenFiles() async throws {
        var vault = try await opened()
        let count = 100
        _ = try await made(count, in: vault)
        #expect(folder.openKeychains.count <= Self.mostOpenFiles + Self.mostThreads)
        await vault.close()

        vault = try await opened()
        #expect(folder.openKeychains.count <= Self.mostOpenFiles + Self.mostThreads)
        let collections = vault.collections.filter { $0.label.hasPrefix("many") }
        #expect(collections.count == count)
        for collection in collections { try await collection.unlock(with: Fixture.bytes("pw")) }
        let additions = collections.map { collection in
            Task { @VaultActor in
                for number in 0..<3 { try await collection.add("n", ["n": "\(number)"], secret: collection.label) }
            }
        }
        for addition in additions { try await addition.value }
        #expect(folder.openKeychains.count <= Self.mostOpenFiles + Self.mostThreads)
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

    /// What another program does to a file that is closed for the moment.
    enum Displacement: CaseIterable {
        case olderItems, olderKeySlots, removal
    }

    @Test(arguments: Displacement.allCases)
    func closedFileIsReplaced_noChangeIsAcknowledged(_ displacement: Displacement) async throws {
        let vault = try await opened()
        let collections = try await made(Self.mostOpenFiles + 10, in: vault)
        let collection = try #require(collections.last { !folder.openKeychains.contains($0.name.fileName) })
        let file = folder.file(collection.name.fileName)
        let older = try Data(contentsOf: URL(fileURLWithPath: file))
        switch displacement {
        case .olderItems, .removal: try await collection.add("kept")
        case .olderKeySlots: try await collection.changePassword(from: Fixture.bytes("pw"), to: Fixture.bytes("new"))
        }
        try await collection.add("closes the file again")
        try FileManager.default.removeItem(atPath: file)
        if displacement != .removal { try older.write(to: URL(fileURLWithPath: file)) }
        var found: Collection?
        vault.onDisplacement = { found = $0 }
        let error = await #expect(throws: VaultError.self) { try await collection.add("lost") }
        #expect(error == .of(.displaced))
        #expect(found === collection)
        await vault.close()
    }
}
