import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindTestSupport
import Testing

/// Sandboxes, and false claims of programs in them.
struct ConfinementTests {
    private static let mail = info("org.example.Mail", instance: "1")
    private static let bank = info("org.example.Bank", instance: "2")

    private static func info(_ application: String, instance: String) -> String {
        "[Application]\nname=\(application)\n\n[Instance]\ninstance-id=\(instance)\n"
    }

    /// A fake /proc with a chain of processes, the caller first, and Flatpak's records of Mail and Bank.
    private struct Chain {
        /// A process: the file in the root of its sandbox, and the number of PID namespaces.
        struct Process {
            var info: String?
            var levels = 1
        }

        let folder: TemporaryFolder
        var isReadOnly = true
        var credentials = ConnectionCredentials()

        init(_ processes: [Process]) throws {
            folder = try TemporaryFolder()
            for (number, info) in [("1", ConfinementTests.mail), ("2", ConfinementTests.bank)] {
                _ = try folder.makeFolder("instances/\(number)")
                try folder.write(info, to: "instances/\(number)/info")
            }
            for (index, process) in processes.enumerated() {
                let id = 100 - index
                let parent = index + 1 < processes.count ? id - 1 : 0
                _ = try folder.makeFolder("\(id)/root")
                let rest = "0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1"
                try folder.write("\(id) (name) S \(parent) 1 1 \(rest)", to: "\(id)/stat")
                let levels = (1...process.levels).map { "\($0)" }.joined(separator: "\t")
                try folder.write("Name:\tname\nNSpid:\t\(levels)\n", to: "\(id)/status")
                if let info = process.info { try folder.write(info, to: "\(id)/root/.flatpak-info") }
            }
            credentials.processID = 100
        }

        var confinement: Confinement {
            let finder = ConfinementFinder(root: folder.path, instances: folder.path("instances")) { [isReadOnly] _ in
                isReadOnly
            }
            do throws(ExaminationObstacle) {
                return try finder.find(credentials, into: .all)
            } catch {
                return .unknown(reason: Text(verbatim: "\(error)"))
            }
        }

        var isUnknown: Bool { if case .unknown = confinement { true } else { false } }
    }

    private typealias Process = Chain.Process

    @Test
    func find_programOfTheSession_isOutside() throws {
        #expect(try Chain([Process(), Process(), Process()]).confinement == .none)
    }

    @Test
    func find_containerWithoutAName_isOutside() throws {
        #expect(try Chain([Process(levels: 2), Process(levels: 2), Process()]).confinement == .none)
    }

    @Test
    func find_flatpak_isProven() throws {
        let chain = try Chain([Process(info: Self.mail, levels: 2), Process(info: Self.mail, levels: 2), Process()])
        #expect(chain.confinement == .sandbox(.flatpak("org.example.Mail")))
        #expect(Sandbox.flatpak("org.example.Mail").isProven)
    }

    @Test
    func find_sandboxInsideWithAnotherName_isUnknown() throws {
        #expect(
            try Chain([Process(info: Self.bank, levels: 3), Process(info: Self.mail, levels: 2), Process()]).isUnknown
        )
    }

    @Test
    func find_sandboxInsideOfTheSameApplication_hasItsName() throws {
        let inner = Self.info("org.example.Mail", instance: "9")
        let chain = try Chain([Process(info: inner, levels: 3), Process(info: Self.mail, levels: 2), Process()])
        #expect(chain.confinement == .sandbox(.flatpak("org.example.Mail")))
    }

    @Test
    func find_sandboxInsideWithoutAFile_hasTheOuterName() throws {
        let chain = try Chain([Process(levels: 3), Process(info: Self.mail, levels: 2), Process()])
        #expect(chain.confinement == .sandbox(.flatpak("org.example.Mail")))
    }

    @Test(arguments: [
        // No such instance, the record of another one, none, and a path.
        info("org.example.Bank", instance: "3"), info("org.example.Bank", instance: "1"),
        "[Application]\nname=org.example.Bank\n", info("org.example.Bank", instance: "../instances/2"),
        "", "[Application]\n", info("bank", instance: "2"),
    ])
    func find_forgedFile_isUnknown(info: String) throws {
        #expect(try Chain([Process(info: info), Process()]).isUnknown)
    }

    @Test
    func find_fileThatTheProgramCanChange_isUnknown() throws {
        var chain = try Chain([Process(info: Self.bank, levels: 2), Process()])
        chain.isReadOnly = false
        #expect(chain.isUnknown)
        // Flatpak's proxy.
        chain = try Chain([Process(info: Self.bank), Process()])
        chain.isReadOnly = false
        #expect(chain.confinement == .sandbox(.flatpak("org.example.Bank")))
    }

    @Test
    func find_parentInTheSandboxHasEnded_isUnknown() throws {
        let chain = try Chain([Process(levels: 2), Process(info: Self.mail, levels: 2), Process()])
        try FileManager.default.removeItem(atPath: chain.folder.path("99"))
        #expect(chain.isUnknown)
    }

    @Test
    func find_parentOutsideIsHidden_isOutside() throws {
        let chain = try Chain([Process(), Process(), Process()])
        try FileManager.default.removeItem(atPath: chain.folder.path("98"))
        #expect(chain.confinement == .none)
    }

    @Test
    func find_loopOfParents_isUnknown() throws {
        let chain = try Chain([Process(levels: 2), Process(levels: 2)])
        let rest = "0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1"
        try chain.folder.write("99 (name) S 100 1 1 \(rest)", to: "99/stat")
        #expect(chain.isUnknown)
    }

    @Test(arguments: [0, nil] as [UInt32?])
    func find_processOutOfSight_isUnknown(id: UInt32?) throws {
        var chain = try Chain([Process()])
        chain.credentials.processID = id
        #expect(chain.isUnknown)
    }

    @Test
    func find_labelInEnforceMode_isProven() throws {
        var chain = try Chain([Process(), Process()])
        chain.credentials.securityLabel = "/usr/bin/mail (enforce)"
        #expect(chain.confinement == .sandbox(.profile("/usr/bin/mail")))
        chain.credentials.securityLabel = "snap.mail.mail (enforce)"
        #expect(chain.confinement == .sandbox(.snap("mail", evidence: .securityLabel)))
        chain.credentials.securityLabel = "snap.mail.mail (complain)"
        #expect(chain.confinement == .none)
    }

    @Test
    func find_flatpakUnderAProfile_isTheFlatpak() throws {
        var chain = try Chain([Process(info: Self.mail, levels: 2), Process()])
        chain.credentials.securityLabel = "bwrap//&unpriv_bwrap (enforce)"
        #expect(chain.confinement == .sandbox(.flatpak("org.example.Mail")))
    }

    @Test
    func strength_everyEvidence_isSorted() {
        let proven = CallerEvidence.allCases.filter { $0.strength == .proven }
        #expect(Set(proven) == [.securityLabel, .sandboxFile])
        let likely = CallerEvidence.allCases.filter { $0.strength == .likely }
        #expect(Set(likely) == [.desktopPortal, .systemProgram])
        #expect(Strength.said < .likely && .likely < .proven)
    }
}
