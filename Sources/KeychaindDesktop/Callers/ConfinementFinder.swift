import Glibc
package import KeychaindDBus
import KeychaindLanguage
import KeychaindRights

/// Finds the sandbox around the process of a connection.
///
/// A program in a sandbox can make another one inside, with any file in it. It cannot leave the processes that started
/// it: the parents of a process in a PID namespace end at the first process of that namespace, inside of the sandbox.
/// So the outermost sandbox among the parents counts, and one inside that says something else is not believed.
package struct ConfinementFinder: Sendable {
    private let root: String
    private let instances: String?
    private let isReadOnly: @Sendable (String) -> Bool

    /// The most parents that are followed; more are no honest program's.
    private static let depth = 256

    /// - Parameters:
    ///   - root: the process folder instead of /proc.
    ///   - instances: Flatpak's folder with the running instances, which is not in its sandboxes; nil if there is none.
    ///   - isReadOnly: whether a file is on a read-only mount; replaced in tests.
    package init(
        root: String = "/proc",
        instances: String? = ConfinementFinder.instancesOfUser,
        isReadOnly: @escaping @Sendable (String) -> Bool = ConfinementFinder.isOnReadOnlyMount
    ) {
        self.root = root
        self.instances = instances
        self.isReadOnly = isReadOnly
    }

    /// `$XDG_RUNTIME_DIR/.flatpak`.
    package static var instancesOfUser: String? {
        guard let value = getenv("XDG_RUNTIME_DIR") else { return nil }
        let folder = String(cString: value)
        return folder.hasPrefix("/") ? folder + "/.flatpak" : nil
    }

    package static func isOnReadOnlyMount(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Finds the sandbox around the process of a connection, unless something is in the way.
    ///
    /// Blocks, as a process with its own file system can delay reads.
    ///
    /// - Parameter roots: those that may be entered; others than the own can block for ever.
    package func find(_ credentials: ConnectionCredentials, into roots: ExaminedRoots) throws(ExaminationObstacle)
        -> Confinement
    {
        try UserRights.perform { () throws(ExaminationObstacle) in try look(at: credentials, into: roots) }
    }

    private func look(
        at credentials: ConnectionCredentials,
        into roots: ExaminedRoots
    ) throws(ExaminationObstacle) -> Confinement {
        if let snap = credentials.securityLabel.flatMap(Sandbox.init(snapLabel:)) { return .sandbox(snap) }
        guard let processID = credentials.processID, processID > 0, let id = Int32(exactly: processID) else {
            return .unknown(reason: Text("its process is hidden, as in another container"))
        }
        let flatpak = try confinement(of: id, into: roots)
        guard credentials.isRunning else { return .unknown(reason: Text("process \(id) has ended")) }
        guard case .none = flatpak else { return flatpak }
        return credentials.securityLabel.flatMap(Sandbox.init(profileLabel:)).map(Confinement.sandbox) ?? .none
    }

    // MARK: Flatpak

    /// The sandbox around a process, without its security label.
    private func confinement(of id: Int32, into roots: ExaminedRoots) throws(ExaminationObstacle) -> Confinement {
        guard let chain = try chain(from: id, into: roots) else {
            return .unknown(reason: Text("process \(id) has ended or cannot be seen"))
        }
        let files = chain.compactMap { link in
            if case .file(let content, let path) = link.info {
                (content: content, path: path, isInside: link.isInOtherNamespace)
            } else {
                nil
            }
        }
        // In the PID namespace of this process are no sandboxed ones, whatever else is hidden.
        guard !chain.contains(where: { $0.isInOtherNamespace && $0.info == .unreadable }) else {
            return .unknown(reason: Text("it is in a sandbox that cannot be seen"))
        }
        guard let outermost = files.last else { return .none }
        guard let info = FlatpakInfo(outermost.content) else {
            return .unknown(reason: Text("the file in its sandbox names no application"))
        }
        guard files.allSatisfy({ FlatpakInfo($0.content)?.application == info.application }) else {
            return .unknown(reason: Text("a sandbox inside of another one states another name"))
        }
        // Flatpak's proxy has a file that it could write, and runs nothing else.
        guard !outermost.isInside || isReadOnly(outermost.path) else {
            return .unknown(reason: Text("the file in its sandbox can be changed by it"))
        }
        guard try isInstance(info, outermost.content) else {
            return .unknown(reason: Text("Flatpak runs no such instance"))
        }
        return .sandbox(.flatpak(info.application))
    }

    /// Whether Flatpak's own record of the instance, which is outside of the sandbox, is the same.
    private func isInstance(_ info: FlatpakInfo, _ content: [UInt8]) throws(ExaminationObstacle) -> Bool {
        guard let instances, let instance = info.instance else { return false }
        let record = try ProcessFolder.content(of: "\(instances)/\(instance)/info", limit: FlatpakInfo.longest + 1)
        return record == content
    }

    // MARK: Processes

    private enum Info: Equatable {
        case file([UInt8], path: String)
        case missing
        case unreadable
    }

    private struct Link {
        let info: Info
        /// Whether it is in another PID namespace than this process.
        let isInOtherNamespace: Bool
    }

    /// A process and its parents; nil if the process has ended, or parents in its PID namespace have.
    private func chain(from id: Int32, into roots: ExaminedRoots) throws(ExaminationObstacle) -> [Link]? {
        // A parent that ends while it is looked at leaves its children to another.
        for _ in 0..<3 {
            if let chain = try follow(from: id, into: roots) { return chain }
        }
        return nil
    }

    private func follow(from start: Int32, into roots: ExaminedRoots) throws(ExaminationObstacle) -> [Link]? {
        var chain: [Link] = []
        var id = start
        for _ in 0..<ConfinementFinder.depth {
            let folder = ProcessFolder(id, in: root)
            guard let before = try ProcessStatus(of: folder), let levels = try namespaceLevels(of: folder) else {
                // The system's own processes may be hidden from the user (proc(5), hidepid).
                return chain.last.map { $0.isInOtherNamespace } == false ? chain : nil
            }
            let link = Link(info: try info(of: folder, into: roots), isInOtherNamespace: levels > 1)
            guard let after = try ProcessStatus(of: folder), after.startTime == before.startTime,
                after.parentID == before.parentID
            else { return nil }
            chain.append(link)
            guard after.parentID > 0, after.parentID != id else { return chain }
            id = after.parentID
        }
        return nil
    }

    private func info(of folder: ProcessFolder, into roots: ExaminedRoots) throws(ExaminationObstacle) -> Info {
        switch try ProcessRoot(of: folder, in: root) {
        case .own: return try info(in: ProcessFolder("self", in: root))
        case .hidden: return .unreadable
        case .other(let name):
            guard case .all = roots else { throw .root(name) }
            return try info(in: folder)
        }
    }

    private func info(in folder: ProcessFolder) throws(ExaminationObstacle) -> Info {
        let path = "\(folder.path)/root/\(FlatpakInfo.name)"
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let code = errno
            try ExaminationObstacle.check(code)
            return code == ENOENT ? .missing : .unreadable
        }
        // A file without end is none of Flatpak's, but its process is in some sandbox.
        let content = try folder.content(of: "root/\(FlatpakInfo.name)", limit: FlatpakInfo.longest + 1)
        return .file(content ?? [], path: path)
    }

    /// The PID namespaces from this process's down to that of another one (`NSpid` in `/proc/PID/status`), which no
    /// process can hide; one if they are the same.
    private func namespaceLevels(of folder: ProcessFolder) throws(ExaminationObstacle) -> Int? {
        guard let content = try folder.content(of: "status", limit: 8 << 10) else { return nil }
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("NSpid:") }) else { return 1 }
        return line.dropFirst("NSpid:".count).split { $0 == "\t" || $0 == " " }.count
    }
}
