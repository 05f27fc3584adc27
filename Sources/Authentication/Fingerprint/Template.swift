/// A file in fprintd's state folder, or what can be seen of it.
struct Template: Hashable {
    enum Content: Hashable {
        case bytes([UInt8])
        case unread(size: Int, inode: UInt64, seconds: Int, nanoseconds: Int)
        /// A folder, or another thing, that cannot be looked into.
        case hidden
    }

    /// The path below the user's folder; empty for that folder itself.
    let name: String
    let content: Content
}
