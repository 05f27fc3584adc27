/// Space that is kept back, so that deletions work on a full disk.
///
/// It is in the file `lock`, behind the ``LockoutPlaces``.
struct DiskReserve {
    /// The bytes kept back, for the journal of a deletion, which overwrites the secret that it deletes: up to one of
    /// this size.
    static let size = 1 << 20

    /// The free bytes without which nothing is kept back.
    private static let free = UInt(4 * size)

    private let folder: Folder

    init(in folder: Folder) {
        self.folder = folder
    }

    /// Whether the disk has room for more than a few changes.
    var hasRoom: Bool { folder.hasFree(bytes: Self.free) }

    /// Makes the reserve when there is room.
    func keep() throws(VaultError) {
        guard folder.isWritable else { return }
        try folder.reserve(FolderLock.name, bytes: Self.size, leaving: Self.free)
    }

    /// Gives the space back to the disk.
    func release() throws(VaultError) {
        try folder.truncate(FolderLock.name, to: LockoutPlaces.size)
    }
}
