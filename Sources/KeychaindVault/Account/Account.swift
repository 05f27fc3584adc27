/// An account of the machine, as far as it can be told from others with its number.
package struct Account: Equatable, Sendable {
    package var name: String

    /// The path of the home folder.
    package var home: String

    /// The inode of the home folder, which no program of the user can exchange.
    package var inode: UInt64

    /// The birth of the home folder in seconds since 1970; 0 if there is none, or its file system does not say.
    package var birth: Int64

    package init(name: String, home: String, inode: UInt64 = 0, birth: Int64 = 0) {
        self.name = name
        self.home = home
        self.inode = inode
        self.birth = birth
    }
}
