/// The limits of an archive, for its writer and its readers: what is written can be read.
package struct ArchiveLimits: Sendable {
    package var items: UInt64 = 200_000

    /// The most bytes of all secrets: a reader holds them in memory.
    package var secretBytes = 512 << 20

    package init() {}

    func check(items: UInt64, secretBytes: Int) throws(ArchiveError) {
        guard items <= self.items, secretBytes <= self.secretBytes else {
            throw ArchiveError(
                .limitExceeded,
                reason: "an archive has at most \(self.items) items and \(self.secretBytes >> 20) MiB of secrets"
            )
        }
    }
}
