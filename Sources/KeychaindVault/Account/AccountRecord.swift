/// The account whose keychains are in a folder of the domain, since the system gives numbers of accounts again.
///
/// The file `account` beside the keychains: a first line, then the name, the home folder, its inode and birth, and the
/// time of the record in seconds since 1970, a line each.
package struct AccountRecord: Equatable, Sendable {
    /// Whose keychains they are.
    package enum Owner: Equatable, Sendable {
        case thisAccount

        /// An earlier account with the same number.
        case another

        /// Not known, as while the home folder is not mounted.
        case unknown
    }

    package static let name = "account"

    /// The file that has the keychains of another account set aside (domain/keychaind-folders.c).
    package static let markName = "set-aside"

    package var account: Account
    package var time: Int64

    private static let firstLine = "keychaind account 1"
    private static let maximumSize: Int64 = 16 << 10

    package init(account: Account, time: Int64) {
        self.account = account
        self.time = time
    }

    /// Compares the account of the keychains with the one that has its number now.
    ///
    /// Where the home folder of the record has no birth, only the names tell the accounts apart.
    package func owner(for present: Account) -> Owner {
        guard account.birth != 0 else { return account.name == present.name ? .thisAccount : .another }
        guard present.birth != 0 else { return .unknown }
        if account.inode == present.inode, account.birth == present.birth { return .thisAccount }
        // An older folder may be the one below the home folder, before that is mounted.
        return present.birth > time ? .another : .unknown
    }

    /// Finds out whose keychains are in a folder, and notes it.
    ///
    /// Keychains without a record become those of the account. Those of another account are marked, with a note for
    /// people. Throws if the record cannot be read.
    ///
    /// - Parameter time: in seconds since 1970.
    package static func examine(_ directory: String, for account: Account, at time: Int64) throws(VaultError) -> Owner {
        let folder = Folder(directory)
        guard let record = try load(from: folder) else {
            try AccountRecord(account: account, time: time).save(in: folder)
            return .thisAccount
        }
        let owner = record.owner(for: account)
        switch owner {
        case .thisAccount where record.account != account:
            try AccountRecord(account: account, time: time).save(in: folder)
        case .another: try FileText.write(record.note(for: account), to: markName, in: folder)
        case .thisAccount, .unknown: break
        }
        return owner
    }

    static func load(from folder: Folder) throws(VaultError) -> AccountRecord? {
        guard try folder.exists(name) else { return nil }
        let lines = try FileText.read(folder.file(name), maximumSize: maximumSize).split(separator: "\n")
        guard lines.count == 6, lines[0] == firstLine[...], let inode = UInt64(lines[3]), let birth = Int64(lines[4]),
            let time = Int64(lines[5])
        else { throw VaultError(.unreadable, reason: "\(folder.file(name)) is damaged") }
        let account = Account(name: String(lines[1]), home: String(lines[2]), inode: inode, birth: birth)
        return AccountRecord(account: account, time: time)
    }

    func save(in folder: Folder) throws(VaultError) {
        let numbers = "\(account.inode)\n\(account.birth)\n\(time)\n"
        try FileText.write("\(Self.firstLine)\n\(account.name)\n\(account.home)\n\(numbers)", to: Self.name, in: folder)
    }

    private func note(for present: Account) -> String {
        """
        These keychains are of an account "\(account.name)" with the home folder \(account.home). The account \
        "\(present.name)" has its number now, and another home folder: it cannot open them.

        "Another account with the same number" in keychaind's docs/domain.md says how an administrator gives them back.

        """
    }
}

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
