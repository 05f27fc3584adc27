import Foundation
import KeychaindVault
import Testing

/// Whose keychains are in a folder of the domain.
@Suite struct AccountRecordTests {
    private let folder = TemporaryFolder()
    private let anna = Account(name: "anna", home: "/home/anna", inode: 12, birth: 1000)

    private func changed(_ change: (inout Account) -> Void) -> Account {
        var account = anna
        change(&account)
        return account
    }

    private var isMarked: Bool { FileManager.default.fileExists(atPath: folder.file(AccountRecord.markName)) }

    private func owner(_ present: Account, of recorded: Account) -> AccountRecord.Owner {
        AccountRecord(account: recorded, time: 2000).owner(for: present)
    }

    @Test("the home folder makes the account, with any name and at any path")
    func owner_sameHome_isTheAccount() {
        #expect(owner(anna, of: anna) == .thisAccount)
        #expect(owner(changed { $0.name = "annette" }, of: anna) == .thisAccount)
        #expect(owner(changed { $0.home = "/srv/anna" }, of: anna) == .thisAccount)
    }

    @Test("a home folder born later is of another account, with the same name and inode, too")
    func owner_newHome_isAnother() {
        #expect(owner(changed { $0.birth = 2001 }, of: anna) == .another)
        #expect(owner(changed { ($0.inode, $0.birth) = (13, 2001) }, of: anna) == .another)
    }

    @Test("while there is no home folder, or an older one, nobody knows")
    func owner_homeNotMounted_isUnknown() {
        #expect(owner(changed { ($0.inode, $0.birth) = (0, 0) }, of: anna) == .unknown)
        #expect(owner(changed { ($0.inode, $0.birth) = (2, 900) }, of: anna) == .unknown)
        #expect(owner(changed { ($0.inode, $0.birth) = (13, 1000) }, of: anna) == .unknown)
    }

    @Test("without births, names tell accounts apart")
    func owner_noBirth_isByName() {
        let homeless = Account(name: "service", home: "/nonexistent")
        #expect(owner(homeless, of: homeless) == .thisAccount)
        #expect(owner(Account(name: "service", home: "/srv", inode: 4, birth: 3000), of: homeless) == .thisAccount)
        #expect(owner(anna, of: homeless) == .another)
    }

    @Test("keychains without a record become the account's; another account's get a mark, and stay as they are")
    func examine_followsTheAccount() throws {
        func examine(_ account: Account) throws -> AccountRecord.Owner {
            try AccountRecord.examine(folder.path, for: account, at: 2000)
        }
        #expect(try examine(anna) == .thisAccount)
        let renamed = changed { $0.name = "annette" }
        #expect(try examine(renamed) == .thisAccount)
        #expect(try examine(changed { $0.birth = 1500 }) == .unknown)
        #expect(!isMarked)
        #expect(try examine(changed { $0.birth = 3000 }) == .another)
        let note = try String(contentsOfFile: folder.file(AccountRecord.markName), encoding: .utf8)
        #expect(note.contains("\"annette\" with the home folder /home/anna"))
    }

    @Test("a damaged record is an error, and stays as it is")
    func examine_damagedRecord_throws() throws {
        try Data("keychaind account 1\nanna\n".utf8).write(to: URL(fileURLWithPath: folder.file(AccountRecord.name)))
        #expect(throws: VaultError.self) { try AccountRecord.examine(folder.path, for: anna, at: 2000) }
        #expect(!isMarked)
    }
}
