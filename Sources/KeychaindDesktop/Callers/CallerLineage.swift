/// The programs around a caller, found by its parent processes.
///
/// They help a person to recognise the request, and prove nothing: any program can start another.
package struct CallerLineage: Hashable, Sendable {
    /// The program that a person knows, such as `git` behind `git-credential-libsecret`.
    package let program: ProgramName

    /// The caller's own program, if it works for another one.
    package let helper: ProgramName?

    /// The program around them, such as the terminal's.
    package let place: ProgramName?

    /// The identity of ``program``, if there is a ``helper``, and that of ``place``; as ``Caller/applicationIdentity``.
    package var principalIdentity: String?
    package var placeIdentity: String?

    package init(program: ProgramName, helper: ProgramName? = nil, place: ProgramName? = nil) {
        self.program = program
        self.helper = helper
        self.place = place
    }
}

/// Finds the programs around a process.
///
/// Blocks, as ``ProcessInspector`` does.
struct LineageFinder {
    /// A process at one moment.
    private struct Node {
        let status: ProcessStatus
        let process: CallerProcess

        var isSessionLeader: Bool { status.sessionID == process.id }
        var isInstalled: Bool { if case .installed = process.name { true } else { false } }

        /// Whether it works for the program that started it.
        var isHelper: Bool {
            guard process.sandbox == nil, let program = process.program else { return false }
            if program.isHelper { return true }
            guard program.isInterpreter else { return false }
            guard program.runsScripts, let script = process.script else { return true }
            return ProgramFile.isHelper(script: script)
        }

        /// Whether a person would not name it.
        var isWrapper: Bool {
            process.program.map { $0.isWrapper && (process.script == nil || !$0.runsScripts) } ?? false
        }
    }

    let root: String
    let entries: DesktopEntries
    /// Only processes of this user are followed.
    let userID: UInt32
    /// Describes a process.
    let look: (Int32, ProcessStatus) -> CallerProcess

    /// The longest chain of helpers.
    private static let limit = 16

    func lineage(of process: CallerProcess, _ status: ProcessStatus) -> CallerLineage {
        let start = Node(status: status, process: process)
        let known = program(behind: start)
        let isOther = known.process.id != process.id
        let place = terminal(of: known)
        var lineage = CallerLineage(
            program: name(of: known),
            helper: isOther ? process.name : nil,
            place: place.map(name)
        )
        lineage.principalIdentity = isOther ? known.process.ruleIdentity : nil
        lineage.placeIdentity = place?.process.ruleIdentity
        return lineage
    }

    /// The first process that is no helper, or the last that a person would name.
    ///
    /// Ends at the session leader: a shell, or the start of a desktop session.
    private func program(behind start: Node) -> Node {
        var known = start
        var node = start
        for _ in 0..<LineageFinder.limit {
            guard node.isHelper, !node.isSessionLeader, let parent = parent(of: node),
                parent.status.sessionID == start.status.sessionID
            else { break }
            node = parent
            if !node.isWrapper { known = node }
        }
        return known
    }

    /// The program that started the session leader of a terminal, such as the terminal's window.
    private func terminal(of node: Node) -> Node? {
        guard node.process.sandbox == nil, node.status.terminal != 0, node.status.sessionID > 1,
            let leader = self.node(node.status.sessionID), leader.isSessionLeader,
            leader.status.terminal == node.status.terminal, leader.status.startTime <= node.status.startTime,
            let terminal = parent(of: leader), terminal.status.sessionID != leader.status.sessionID,
            terminal.process.program != nil
        else { return nil }
        return terminal
    }

    /// The name, by its desktop entry if there is one.
    private func name(of node: Node) -> ProgramName {
        // A terminal's unit has the name of the terminal for all that run in it.
        guard node.isInstalled, node.status.terminal == 0, !node.isHelper, let program = node.process.program,
            let name = entries.name(of: program, in: node.process.unit)
        else { return node.process.name }
        return .installed(name)
    }

    /// The parent; nil if it is the system's or another user's, or has ended or changed meanwhile.
    private func parent(of child: Node) -> Node? {
        let id = child.status.parentID
        guard id > 1, let parent = node(id), parent.status.startTime <= child.status.startTime,
            !LineageFinder.isManager(parent),
            // When a parent ends, the kernel gives its children another. So an unchanged parent has lived all the
            // time, and its id was not reused.
            let now = ProcessFolder(child.process.id, in: root).processStatus, now.startTime == child.status.startTime,
            now.parentID == id
        else { return nil }
        return parent
    }

    private func node(_ id: Int32) -> Node? {
        let folder = ProcessFolder(id, in: root)
        guard let status = folder.processStatus, status.state != "Z", status.state != "X",
            ProcessCredentials(folder)?.userIDs == [userID]
        else { return nil }
        let process = look(id, status)
        guard folder.processStatus?.startTime == status.startTime else { return nil }
        return Node(status: status, process: process)
    }

    /// Whether it is systemd, which starts unrelated programs.
    private static func isManager(_ node: Node) -> Bool {
        ["systemd", "(sd-pam)", "init"].contains(node.process.program?.name ?? node.status.commandName)
    }
}

extension CallerProcess {
    /// The identity of a program around a caller; nil for a path that may stand for any file.
    fileprivate var ruleIdentity: String? {
        if sandbox != nil { return applicationIdentity }
        if let program, program.place != .present { return nil }
        return script.map { "script:\($0)" } ?? program.map { "program:\($0.path)" } ?? applicationIdentity
    }
}
