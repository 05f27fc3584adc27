import Glibc
package import KeychaindCommandLine
import KeychaindFiles
import KeychaindLanguage

/// Changes an account's provider to keychaind, and back.
///
/// The journal is on disk before the first change. After an interruption at any point both directions can be run again.
package struct Switch: Sendable {
    package let account: SwitchAccount
    /// Runs a program of the system; tests replace it.
    private let run: @Sendable ([String]) throws(CommandFailure) -> Void

    package init(
        _ account: SwitchAccount,
        run: @escaping @Sendable ([String]) throws(CommandFailure) -> Void = SystemProgram.run
    ) {
        self.account = account
        self.run = run
    }

    private var tree: FileTree { account.tree }

    // MARK: On

    /// Carries out the plan.
    ///
    /// A failure undoes it, unless the account was switched before.
    package func on(_ plan: Plan) throws(CommandFailure) {
        try whileLocked { () throws(CommandFailure) in
            let former = try Journal(of: account)
            var journal = former ?? Journal()
            try note(plan, in: &journal)
            do throws(CommandFailure) {
                try journal.save(for: account)
                // An interrupted switch back may have left one beside a file that is as it should be.
                for entry in journal.entries { try tree.removeTemporary(of: entry.path) }
                for step in plan.steps { try tree.put(step.becomes, at: step.path) }
                try perform(plan.commands, &journal)
                journal.isComplete = true
                try journal.save(for: account)
            } catch {
                guard former == nil, (try? undo(journal)) != nil else {
                    throw CommandFailure(error.status, "\(error.text); keychainctl switch off restores the rest")
                }
                throw CommandFailure(error.status, "\(error.text); nothing has changed")
            }
        }
    }

    /// Notes what is at each path now, unless an earlier run has and no other program has changed it since.
    private func note(_ plan: Plan, in journal: inout Journal) throws(CommandFailure) {
        // What is there after an interruption may be of the switch itself.
        if journal.isComplete { try takeChanges(at: plan.steps, in: &journal) }
        journal.isComplete = false
        for folder in tree.missingFolders(for: account.journalPath) where !journal.folders.contains(folder) {
            journal.folders.append(folder)
        }
        let commandPaths = plan.commands.flatMap(\.paths)
        for step in plan.steps {
            try note(step.path, becomes: step.becomes, settings: step.settings, in: &journal)
        }
        for path in commandPaths { try note(path, becomes: nil, settings: [], in: &journal) }
        for command in plan.commands where !journal.commands.contains(command) { journal.commands.append(command) }
    }

    private func takeChanges(at steps: [Plan.Step], in journal: inout Journal) throws(CommandFailure) {
        for step in steps {
            guard let index = journal.entries.firstIndex(where: { $0.path == step.path }) else { continue }
            let present = try state(of: step.path)
            journal.entries[index].takeChange(to: present, renewing: step.settings)
        }
    }

    private func note(
        _ path: String,
        becomes: FileState?,
        settings: [KeyFile.Setting],
        in journal: inout Journal
    ) throws(CommandFailure) {
        for folder in tree.missingFolders(for: path) where !journal.folders.contains(folder) {
            journal.folders.append(folder)
        }
        if let index = journal.entries.firstIndex(where: { $0.path == path }) {
            journal.entries[index].becomes = becomes
            let known = Set(journal.entries[index].settings.map { [$0.group, $0.key] })
            journal.entries[index].settings += settings.filter { !known.contains([$0.group, $0.key]) }
            return
        }
        // A folder that cannot be trusted is refused before the first change.
        if let folder = try tree.openFolder(path.parentFolder, creating: false) { close(folder) }
        let was = try state(of: path)
        journal.entries.append(.init(path: path, was: was, becomes: becomes, settings: settings))
    }

    /// What is at a path that is to be changed.
    private func state(of path: String) throws(CommandFailure) -> FileState {
        let state = try tree.state(of: path)
        guard state != .other else {
            throw CommandFailure(
                .refused,
                "\(path.visible) is not a file of this user, so it cannot be changed and restored"
            )
        }
        return state
    }

    private func perform(_ commands: [Plan.Command], _ journal: inout Journal) throws(CommandFailure) {
        for command in commands { try run(command.arguments) }
        let paths = Set(commands.flatMap(\.paths))
        for index in journal.entries.indices where paths.contains(journal.entries[index].path) {
            journal.entries[index].becomes = try tree.state(of: journal.entries[index].path)
        }
    }

    // MARK: Off

    /// Restores what was there, and returns the paths of files that were changed since and stay as they are.
    package func off() throws(CommandFailure) -> [String] {
        try whileLocked { () throws(CommandFailure) in
            guard var journal = try Journal(of: account) else {
                // An interrupted switch may have left these before its first change, or after its last one.
                try tree.removeTemporary(of: account.journalPath)
                try removeOwnFolder()
                return []
            }
            if journal.isComplete {
                journal.isComplete = false
                try journal.save(for: account)
            }
            return try undo(journal)
        }
    }

    private func undo(_ journal: Journal) throws(CommandFailure) -> [String] {
        var left: [String] = []
        var byCommand: Set<String> = []
        for command in journal.commands.reversed() where try hasChanged(command, journal) {
            try run(command.undo)
            byCommand.formUnion(command.paths)
        }
        for entry in journal.entries.reversed() where !byCommand.contains(entry.path) {
            try tree.removeTemporary(of: entry.path)
            let present = try tree.state(of: entry.path)
            if present == entry.was { continue }
            if entry.becomes.map(present.matches) ?? true || present.matches(entry.was) {
                try tree.put(entry.was, at: entry.path)
            } else if case .file(var content) = present, !entry.settings.isEmpty {
                var file = KeyFile(content.bytes)
                for setting in entry.settings { file.undo(setting) }
                content.bytes = file.bytes
                try tree.put(.file(content), at: entry.path)
            } else if present != .absent {
                left.append(entry.path)
            }
        }
        let ownFolders = Set(ancestors(of: account.journalPath))
        for folder in journal.folders.reversed() where !ownFolders.contains(folder) { try tree.removeFolder(folder) }
        try tree.put(.absent, at: account.journalPath)
        try removeOwnFolder()
        for folder in journal.folders.reversed() where ownFolders.contains(folder) { try tree.removeFolder(folder) }
        return left
    }

    /// Removes keychainctl's folder if it is empty: an interrupted switch may have made it before the journal.
    private func removeOwnFolder() throws(CommandFailure) {
        if account.scope == .user { try tree.removeFolder(account.stateFolder) }
    }

    /// Whether somebody has changed a file of the command since, so that the former bytes would lose that change.
    private func hasChanged(_ command: Plan.Command, _ journal: Journal) throws(CommandFailure) -> Bool {
        for entry in journal.entries where command.paths.contains(entry.path) {
            guard let becomes = entry.becomes else { continue }
            let present = try tree.state(of: entry.path)
            if !present.matches(becomes), !present.matches(entry.was) { return true }
        }
        return false
    }

    private func ancestors(of path: String) -> [String] {
        var result: [String] = []
        var folder = path.parentFolder
        while folder != "/" {
            result.append(folder)
            folder = folder.parentFolder
        }
        return result
    }

    // MARK: One at a time

    private func whileLocked<Value>(_ body: () throws(CommandFailure) -> Value) throws(CommandFailure) -> Value {
        var folders: [Int32] = []
        defer { for folder in folders { close(folder) } }
        // All above the journal: the first switch makes some of them, which it has not locked.
        for path in ancestors(of: account.journalPath) where isOwn(path) {
            guard let folder = try tree.openFolder(path, creating: false) else { continue }
            folders.append(folder)
            // Network file systems may have no locks for folders.
            guard flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                throw CommandFailure(.failure, "keychainctl switch is running already")
            }
        }
        return try body()
    }

    /// Whether a folder is there and of this user, so that no switch of another account locks it.
    private func isOwn(_ folder: String) -> Bool {
        var status = stat()
        return stat(tree.root + folder, &status) == 0 && status.st_uid == geteuid()
    }
}
