import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindRules
package import KeychaindVault

/// The subjects of notifications.
extension Notices {
    /// The button of a notification; none once the provider is gone.
    private func button(
        _ action: (NoticeActions) -> DesktopNotification.Action
    ) -> [DesktopNotification.Action] {
        provider.map { provider in [action(NoticeActions(provider: provider))] } ?? []
    }

    /// - Parameter mistakes: each with its place; none resolves the subject.
    package func configurationWasRead(_ mistakes: [String], of file: String) {
        guard let first = mistakes.first else { return resolve(.configuration) }
        tell(
            .configuration,
            because: mistakes.joined(separator: "\n"),
            .mistake(first, others: mistakes.count - 1, actions: button { $0.show(file) })
        )
    }

    func hostFailed(_ login: Collection, reason: String) {
        tell(.host, because: reason, .hostFailed(login.label, reason: reason, actions: button(\.unlock)))
    }

    func loginPasswordDiffers(_ login: Collection) {
        tell(
            .loginPassword,
            because: "\(login.name)",
            .loginPasswordDiffers(login.label, actions: button(\.unlock))
        )
    }

    /// - Parameter failure: the reason why a release could not be recorded; nil resolves the subject.
    package func auditWasSynced(_ failure: VaultError?) {
        guard let failure else { return resolve(.audit) }
        tell(.audit, because: "\(failure.code)", .auditFailed(reason: failure.reason))
    }

    func readerIsLocked() {
        guard let login = provider?.vault.collection(named: .login) else { return }
        tell(.reader, because: "locked", .readerLocked(login.label, actions: button(\.freeReader)))
    }

    /// Notifies the person of keychains that cannot be read, or only in part, or that another program has replaced.
    func keychainsMayHaveChanged() {
        // A closed vault has no keychains.
        guard let provider, !provider.readiness.isOpening, !provider.readiness.hasEnded else { return }
        tellOfReplacements(provider.vault.collections)
        var unreadable: [(collection: Collection, reason: String)] = []
        for collection in provider.vault.collections {
            if case .unreadable(let reason) = collection.state { unreadable.append((collection, reason)) }
        }
        for collection in provider.vault.collections {
            if let damage = collection.damage { unreadable.append((collection, damage)) }
        }
        guard let first = unreadable.first else { return resolve(.unreadable) }
        tell(
            .unreadable,
            because: unreadable.map { collection, reason in
                // The words of damage change with the unlock.
                "\(collection.name): \(collection.damage == nil ? reason : "damaged")"
            }.joined(separator: "\n"),
            .unreadable(
                first.collection,
                isInPart: first.collection.damage != nil,
                reason: first.reason,
                others: unreadable.count - 1,
                actions: button { $0.restore(first.collection.name) }
            )
        )
    }

    private func tellOfReplacements(_ collections: [Collection]) {
        let replaced = collections.compactMap { collection in
            collection.replacement.map { replacement in (collection: collection, replacement: replacement) }
        }
        guard let first = replaced.first else {
            for collection in collections where collection.state == .unlocked { resolve(.older, of: collection.name) }
            return
        }
        tell(
            .older,
            because: replaced.map { collection, replacement in "\(collection.name): \(replacement.cause)" }
                .joined(separator: "\n"),
            .replaced(
                first.collection.former.label ?? first.collection.label,
                by: first.replacement,
                actions: button { $0.restore(first.collection.name) }
            )
        )
    }
}

extension Replacement {
    fileprivate var cause: String {
        switch self {
        case .older(let missing): "\(missing)"
        case .diverged(let last): "diverged \(last)"
        case .other: "other"
        }
    }
}

/// Notifications about reads that a rule reports to the person, and their answers.
extension Notices {
    func followRules(of provider: Provider) {
        provider.onRuleNotice = { [programs] read in programs.programHasRead(read) }
        programs.onAnswer = { [weak provider] answer, read in
            provider.map { NoticeActions(provider: $0).answer(answer, to: read) }
        }
    }
}

extension NoticeActions {
    /// Proposes a rule about the program, and what the rule of the notification is about.
    fileprivate func answer(_ answer: ProgramRead.Answer, to read: ProgramRead) {
        guard let told = try? Rule(read.rule), let identity = ProgramIdentity(read.identity),
            let change = change(for: answer, told, RulePrograms(.identity(identity)))
        else { return }
        let prompt = RulePrompt(change, rules: provider.rules, authenticator: provider.authenticator)
        BusActor.start {
            _ = await own.asking { conversation in await prompt.perform(asking: conversation, for: own) }
        }
    }

    private func change(for answer: ProgramRead.Answer, _ told: Rule, _ programs: RulePrograms) -> RulePrompt.Change? {
        switch answer {
        case .ask: return .add([Rule(.askOnce, programs, told.items, until: told.end)])
        case .fine where told.programs == programs:
            // Beside it, a rule that allows the same would not count.
            let stored = try? provider.rules.stored().rules.first { $0.rule == told }
            return stored.flatMap { $0 }.map { .remove([$0]) }
        case .fine: return .add([Rule(.allow, programs, told.items, until: told.end)])
        }
    }
}
