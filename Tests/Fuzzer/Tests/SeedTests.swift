import Foundation
import KeychaindTestSupport
import Testing

/// Every seed, which are good inputs and those that a fuzzer found, is read as the fuzzer does; a trap ends the run.
@Suite struct SeedTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Seeds")

    private func seeds(of reader: FuzzReader) throws -> [URL] {
        let folder = Self.folder.appendingPathComponent(reader.name)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    @Test(arguments: FuzzReader.all.map(\.name))
    func seed_isReadWithoutATrap_andOneToItsEnd(name: String) async throws {
        let reader = try #require(FuzzReader.named(name))
        let seeds = try seeds(of: reader).map { seed in try Data(contentsOf: seed) }
        // On a thread of its own: a reader may wait for others.
        let refusals = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.readAll(seeds, by: reader)) }
        }
        #expect(refusals.count < seeds.count, "no fuzzer gets behind what refuses all seeds: \(refusals)")
    }

    /// Returns why seeds were refused.
    private static func readAll(_ seeds: [Data], by reader: FuzzReader) -> [String] {
        var refusals: [String] = []
        for bytes in seeds {
            do {
                try bytes.withUnsafeBytes { bytes in try reader.read(bytes) }
            } catch {
                refusals.append("\(error)")
            }
            // Also cut short, and with one byte changed: that needs no fuzzer.
            let places = stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64))
            for place in places.sample(oneIn: 4) {
                read(bytes.prefix(place), by: reader)
                var changed = bytes
                changed[changed.startIndex + place] ^= 1 << UInt8(place % 8)
                read(changed, by: reader)
            }
        }
        return refusals
    }

    private static func read(_ bytes: Data, by reader: FuzzReader) {
        bytes.withUnsafeBytes { bytes in try? reader.read(bytes) }
    }

    @Test func eachFolderOfSeeds_isThatOfAReader() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(FuzzReader.all.map(\.name)))
    }
}
