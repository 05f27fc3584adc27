/// The state of a file when it was closed, by which another file in its place is recognised.
///
/// Every commit seals the state anew; a change of key slots leaves it.
struct RestingFile {
    private let state: [UInt8]
    private let header: CollectionHeader
    /// Nil until the file is closed.
    private(set) var stamp: FileStamp?

    init(_ file: CollectionFile) throws(VaultError) {
        state = try file.state()
        header = try file.header()
    }

    func isSame(as other: RestingFile) -> Bool { state == other.state && header == other.header }

    func closed(_ stamp: FileStamp?) -> RestingFile {
        var file = self
        file.stamp = stamp
        return file
    }
}
