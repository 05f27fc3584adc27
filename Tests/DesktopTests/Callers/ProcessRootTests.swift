import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// Looks at processes whose file systems may never answer, or without what a look takes.
struct ProcessRootTests {
    /// A fake /proc with a process and its parent; its folder `self` has the root `/` in the namespace `mnt:[1]`.
    private struct Processes {
        let folder: TemporaryFolder

        init(namespace: String, root: String = "/", parentNamespace: String = "mnt:[1]") throws {
            folder = try TemporaryFolder()
            let rest = "1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1"
            try add("self", namespace: "mnt:[1]", root: "/")
            try add("100", namespace: namespace, root: root)
            try folder.write("100 (name) S 99 \(rest)", to: "100/stat")
            try add("99", namespace: parentNamespace, root: "/")
            try folder.write("99 (name) S 0 \(rest)", to: "99/stat")
        }

        private func add(_ name: String, namespace: String, root: String) throws {
            _ = try folder.makeFolder("\(name)/ns")
            let manager = FileManager.default
            try manager.createSymbolicLink(atPath: folder.path("\(name)/root"), withDestinationPath: root)
            try manager.createSymbolicLink(atPath: folder.path("\(name)/ns/mnt"), withDestinationPath: namespace)
            try folder.write("Name:\tname\nNSpid:\t1\n", to: "\(name)/status")
        }

        func find(into roots: ExaminedRoots) throws(ExaminationObstacle) -> Confinement {
            var credentials = ConnectionCredentials()
            credentials.processID = 100
            return try ConfinementFinder(root: folder.path, instances: nil).find(credentials, into: roots)
        }
    }

    @Test("A program with the root of this process is found without a look into another")
    func find_ownRoot_isFound() throws {
        #expect(try Processes(namespace: "mnt:[1]").find(into: .own) == .none)
    }

    @Test("A program in another root is not looked into unless that is asked for")
    func find_otherRoot_isNotLookedInto() throws {
        #expect(throws: ExaminationObstacle.root("mnt:[2] /")) { try Processes(namespace: "mnt:[2]").find(into: .own) }
        #expect(throws: ExaminationObstacle.root("mnt:[1] /usr")) {
            try Processes(namespace: "mnt:[1]", root: "/usr").find(into: .own)
        }
        #expect(try Processes(namespace: "mnt:[2]").find(into: .all) == .none)
    }

    @Test("A program whose parent is in another root is not looked into, either")
    func find_parentInOtherRoot_isNotLookedInto() throws {
        #expect(throws: ExaminationObstacle.root("mnt:[3] /")) {
            try Processes(namespace: "mnt:[1]", parentNamespace: "mnt:[3]").find(into: .own)
        }
    }

    @Test("Without a free descriptor a look finds nothing out")
    func find_noDescriptor_isAShortage() async {
        await #expect(processExitsWith: .success) {
            var credentials = ConnectionCredentials()
            credentials.processID = UInt32(getpid())
            var limit = rlimit()
            getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            limit.rlim_cur = 0
            setrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
            let confinement = Result { () throws(ExaminationObstacle) in
                try ConfinementFinder(instances: nil).find(credentials, into: .all)
            }
            let insight = Result { () throws(ExaminationObstacle) in try ProcessInspector().inspect(credentials) }
            limit = before
            setrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
            #expect(confinement == .failure(.shortage))
            #expect(throws: ExaminationObstacle.shortage) { try insight.get() }
        }
    }
}
