import KeychaindDBus
import KeychaindDesktop
import KeychaindRules

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
