package import KeychaindCommandLine
package import KeychaindFiles
package import KeychaindLanguage

/// What the switch has to do, given what is there.
package struct Plan: Hashable, Sendable {
    /// One path that will name something else.
    package struct Step: Hashable, Sendable {
        package let path: String
        /// What it is good for, in a few words.
        package let purpose: Text
        package let becomes: FileState
        /// The keys of a file that keeps its other lines; empty if the whole file is the switch's.
        package var settings: [KeyFile.Setting] = []
    }

    /// A program of the system that changes files itself.
    package struct Command: Hashable, Codable, Sendable {
        package let arguments: [String]
        package let undo: [String]
        /// All files that it may change.
        package let paths: [String]
    }

    package var steps: [Step] = []
    package var commands: [Command] = []
    /// What the switch leaves to a person.
    package var notes: [Text] = []

    package var isEmpty: Bool { steps.isEmpty && commands.isEmpty }

    /// The plan for an account: only what is not as it should be.
    package init(for account: SwitchAccount, withLogins: Bool = true) throws(CommandFailure) {
        steps += account.activationSteps
        steps += account.unitSteps
        steps += account.autostartSteps
        steps += account.portalSteps
        steps += account.walletSteps
        if account.scope == .all, withLogins { account.planLogins(&self) }
        notes += account.browserNotes
        var open: [Step] = []
        for step in steps where !(try account.tree.state(of: step.path).matches(step.becomes)) { open.append(step) }
        steps = open
    }
}

extension SwitchAccount {
    /// A step that changes keys of a file and keeps the rest; nil if they are as wanted.
    ///
    /// - Parameter source: the file to begin with; the path itself if it is nil.
    func edit(
        _ path: String,
        source: String? = nil,
        purpose: Text,
        _ settings: [KeyFile.Setting]
    ) -> Plan.Step? {
        var settings = settings
        var file = KeyFile(tree.bytes(of: source ?? path) ?? [])
        for index in settings.indices {
            settings[index].was = file.value(settings[index].group, settings[index].key)
        }
        guard settings.contains(where: { $0.was != $0.value }) else { return nil }
        for setting in settings where setting.was != setting.value { file.set(setting) }
        var mode: UInt32 = 0o644
        if case .file(let content) = try? tree.state(of: path) { mode = content.mode }
        let changed = settings.filter { $0.was != $0.value }
        return Plan.Step(
            path: path,
            purpose: purpose,
            becomes: .file(FileContent(bytes: file.bytes, mode: mode)),
            settings: source == nil || source == path ? changed : []
        )
    }
}
