import KeychaindCommandLine
package import KeychaindLanguage

/// Who provides the Secret Service now and after the next login, and what is not as it should be.
package struct Inspection: Hashable, Sendable {
    /// The program that owns the name on the bus.
    package struct Owner: Hashable, Sendable {
        package let process: Int32
        package let program: String
        /// The unit of the user manager; nil outside of one.
        package let unit: String?
        /// Whether the file of the program has been replaced since, as by an upgrade.
        package let isReplaced: Bool

        package init(process: Int32, program: String, unit: String?, isReplaced: Bool = false) {
            self.process = process
            self.program = program
            self.unit = unit
            self.isReplaced = isReplaced
        }

        package var isKeychaind: Bool { program.lastComponent == "keychaind" }
    }

    /// Something that is not as it should be.
    package struct Finding: Hashable, Sendable {
        package let problem: Text
        /// The command that mends it, or what a person does.
        package let mend: Text
    }

    package enum Choice: Hashable, Sendable {
        case none
        case user
        /// The administrator's, for all accounts.
        case all
    }

    package let owner: Owner?
    package let next: NextProvider?
    package private(set) var choice = Choice.none
    package private(set) var findings: [Finding] = []

    /// - Parameter queue: who waits for the name on the bus.
    package init(of account: SwitchAccount, owner: Owner?, queue: [Owner] = []) {
        self.owner = owner
        next = NextProvider(for: account)
        let command = account.scope == .all ? "sudo keychainctl switch on --all" : "keychainctl switch on"
        inspectJournal(account, command)
        if choice == .none, account.scope == .user, account.tree.exists("/var/lib/keychaind/switch.json") {
            choice = .all
        }
        if !account.tree.exists(account.installation.daemon) {
            add(Text("\(account.installation.daemon) is missing"), Text("install keychaind again"))
        }
        for unit in ["keychaind.service", "keychaind.socket"] {
            if (try? account.tree.state(of: "\(account.unitFolder)/\(unit)")) == .link(target: "/dev/null") {
                let option = account.scope == .all ? "--global" : "--user"
                add(Text("\(unit) is masked"), command: "systemctl \(option) unmask \(unit)")
            }
        }
        if choice != .none, next?.isKeychaind != true {
            add(Text("another provider answers after the next login"), command: command)
        }
        if case .user = choice, case let modules = account.otherLoginModules, !modules.isEmpty {
            let finding = Finding(ofLogins: modules)
            add(finding.problem, finding.mend)
        }
        inspectOwner(command)
        guard let owner, owner.isKeychaind else { return }
        if owner.isReplaced {
            add(
                Text("the program that runs is older than the installed one"),
                Text("a restart keeps keychains unlocked: systemctl --user restart keychaind.service")
            )
        }
        for other in queue where !other.isKeychaind {
            add(
                Text("\(other.program) (process \(other.process)) takes over when keychaind ends"),
                command: "keychainctl switch on --now"
            )
        }
    }

    private mutating func inspectJournal(_ account: SwitchAccount, _ command: String) {
        do throws(CommandFailure) {
            guard let journal = try Journal(of: account) else { return }
            choice = account.scope == .all ? .all : .user
            if !journal.isComplete {
                let other = command.replacingLast("on", with: "off")
                // Translators: two commands
                add(Text("the switch was interrupted"), Text("\(command), or \(other)"))
                return
            }
            let plan = try Plan(for: account)
            for step in plan.steps {
                // Translators: such as "it is no longer so that the bus starts keychaind: /usr/share/…"
                add(Text("it is no longer so that \(step.purpose): \(step.path)"), command: command)
            }
            for command in plan.commands {
                add(Text("PAM is not configured"), command: command.arguments.joined(separator: " "))
            }
            for note in plan.notes { add(note, Text("an editor")) }
        } catch {
            add(error.text, Text("see docs/migrating.md"))
        }
    }

    private mutating func inspectOwner(_ command: String) {
        switch (choice, owner) {
        case (.user, .some(let owner)) where !owner.isKeychaind, (.all, .some(let owner)) where !owner.isKeychaind:
            add(
                Text("\(owner.program) still provides the Secret Service"),
                Text("log out and in, or: keychainctl switch on --now")
            )
        case (.none, .some(let owner)) where owner.isKeychaind && next?.isKeychaind != true:
            // As right after "switch off".
            add(
                Text("keychaind runs, but another provider answers after the next login"),
                Text("log out and in, or, to stay with keychaind: \(command)")
            )
        case (.none, _) where next == nil:
            add(
                Text("no provider is installed where the bus searches"),
                Text("install another provider, or, to use keychaind: \(command)")
            )
        default:
            break
        }
    }

    private mutating func add(_ problem: Text, command: String) {
        add(problem, Text(verbatim: command))
    }

    package mutating func add(_ problem: Text, _ mend: Text) {
        findings.append(Finding(problem: problem, mend: mend))
    }
}

extension Inspection.Finding {
    /// Logins unlock other providers: the switch of an account cannot change that.
    package init(ofLogins modules: [String]) {
        self.init(
            problem: Text(
                "logins of all accounts still start or unlock another provider: \(modules.joined(separator: ", "))"
            ),
            mend: Text("an administrator ends that: sudo keychainctl switch on --all")
        )
    }
}

extension String {
    /// The text with the last word `old` replaced.
    fileprivate func replacingLast(_ old: String, with new: String) -> String {
        var words = split(separator: " ").map(String.init)
        if let index = words.lastIndex(of: old) { words[index] = new }
        return words.joined(separator: " ")
    }
}
