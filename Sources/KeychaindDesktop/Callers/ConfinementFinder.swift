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
    ///   - isReadOnly: whether a file is on a mount that nobody can write to; replaced in tests.
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

    /// Finds the sandbox around the process of a connection.
    ///
    /// Blocks, as a process with its own file system can delay reads.
    package func find(_ credentials: ConnectionCredentials) -> Confinement {
        UserRights.perform { look(at: credentials) }
    }

    /// Whether the process is in another PID namespace than this one, or hidden; does not block.
    package func isInOtherNamespace(_ credentials: ConnectionCredentials) -> Bool {
        guard let id = credentials.processID.flatMap(Int32.init(exactly:)), id > 0 else { return true }
        return namespaceLevels(of: ProcessFolder(id, in: root)).map { $0 > 1 } ?? true
    }

    private func look(at credentials: ConnectionCredentials) -> Confinement {
        if let snap = credentials.securityLabel.flatMap(Sandbox.init(snapLabel:)) { return .sandbox(snap) }
        guard let processID = credentials.processID, processID > 0, let id = Int32(exactly: processID) else {
            return .unknown(reason: Text("its process is hidden, as in another container"))
        }
        let flatpak = confinement(of: id)
        guard credentials.isRunning else { return .unknown(reason: Text("process \(id) has ended")) }
        guard case .none = flatpak else { return flatpak }
        return credentials.securityLabel.flatMap(Sandbox.init(profileLabel:)).map(Confinement.sandbox) ?? .none
    }

    // MARK: Flatpak

    /// The sandbox around a process, without its security label.
    func confinement(of id: Int32) -> Confinement {
        guard let chain = chain(from: id) else {
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
        guard isInstance(info, outermost.content) else {
            return .unknown(reason: Text("Flatpak runs no such instance"))
        }
        return .sandbox(.flatpak(info.application))
    }

    /// Whether Flatpak's own record of the instance, which is outside of the sandbox, is the same.
    private func isInstance(_ info: FlatpakInfo, _ content: [UInt8]) -> Bool {
        guard let instances, let instance = info.instance else { return false }
        return ProcessFolder.read("\(instances)/\(instance)/info", limit: FlatpakInfo.longest + 1) == content
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
    private func chain(from id: Int32) -> [Link]? {
        // A parent that ends while it is looked at leaves its children to another.
        for _ in 0..<3 {
            if let chain = follow(from: id) { return chain }
        }
        return nil
    }

    private func follow(from start: Int32) -> [Link]? {
        var chain: [Link] = []
        var id = start
        for _ in 0..<ConfinementFinder.depth {
            let folder = ProcessFolder(id, in: root)
            guard let before = status(of: folder), let levels = namespaceLevels(of: folder) else {
                // The system's own processes may be hidden from the user (proc(5), hidepid).
                return chain.last.map { $0.isInOtherNamespace } == false ? chain : nil
            }
            let link = Link(info: info(in: folder), isInOtherNamespace: levels > 1)
            guard let after = status(of: folder), after.startTime == before.startTime,
                after.parentID == before.parentID
            else { return nil }
            chain.append(link)
            guard after.parentID > 0, after.parentID != id else { return chain }
            id = after.parentID
        }
        return nil
    }

    private func status(of folder: ProcessFolder) -> ProcessStatus? {
        folder.read("stat", limit: ProcessStatus.longest).flatMap(ProcessStatus.init)
    }

    private func info(in folder: ProcessFolder) -> Info {
        let path = "\(folder.path)/root/\(FlatpakInfo.name)"
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT ? .missing : .unreadable }
        // A file without end is none of Flatpak's, but its process is in some sandbox.
        guard let content = folder.read("root/\(FlatpakInfo.name)", limit: FlatpakInfo.longest + 1) else {
            return .file([], path: path)
        }
        return .file(content, path: path)
    }

    /// The PID namespaces from this process's down to that of another one (`NSpid` in `/proc/PID/status`), which no
    /// process can hide; one if they are the same.
    private func namespaceLevels(of folder: ProcessFolder) -> Int? {
        guard let content = folder.read("status", limit: 8 << 10) else { return nil }
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("NSpid:") }) else { return 1 }
        return line.dropFirst("NSpid:".count).split { $0 == "\t" || $0 == " " }.count
    }
}
