import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindModel
package import SecretServiceClient

/// The rules that past uses of items would have needed, as a file for a person to read.
///
/// Names of programs and items are escaped, so that none can end a comment and begin a rule.
package struct LearnedRules {
    /// What a person knows an item by.
    package struct Item: Sendable {
        let label: String
        let attributes: [String: String]

        package init(label: String, attributes: [String: String]) {
            self.label = label
            self.attributes = attributes
        }
    }

    private struct Use {
        var count = 0
        /// In microseconds since 1970.
        var last: UInt64 = 0

        mutating func add(_ number: Int, at time: UInt64) {
            count = count.addingClamped(number)
            last = max(last, time)
        }
    }

    /// Items by path, for each program.
    private var uses: [AuditedProgram: [String: Use]] = [:]
    /// Programs that no rule can allow.
    private var unnamed: [String: Use] = [:]
    /// Uses of items that no longer exist.
    private var gone = 0
    private let items: [String: Item]

    private static let kinds: Set<String> = ["release", "key-use"]
    private static let attributeLimit = 5

    /// - Parameters:
    ///   - records: entries of the audit, in any order.
    ///   - items: the items that still exist, by path.
    ///   - isProtected: whether only an administrator can change a program file; a process of it that has loaded code
    ///     of the user has less evidence than a rule in its favour takes.
    package init(
        _ records: [AuditRecord],
        _ items: [String: Item],
        isProtected: (_ path: String) -> Bool = LearnedRules.isProtected
    ) {
        self.items = items
        for record in records where Self.kinds.contains(record.kind) {
            guard let count = Self.count(of: record.outcome), !record.item.isEmpty else { continue }
            guard items[record.item] != nil else {
                gone = gone.addingClamped(count)
                continue
            }
            let program = AuditedProgram(record).flatMap { program in
                program.kind == "program" && program.strength == .said && isProtected(program.name) ? nil : program
            }
            if let program {
                uses[program, default: [:]][record.item, default: Use()].add(count, at: record.time)
            } else {
                unnamed[record.caller, default: Use()].add(count, at: record.time)
            }
        }
    }

    package static func isProtected(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        return status.st_uid == 0 && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// The paths of the used items.
    package static func paths(in records: [AuditRecord]) -> [String] {
        Set(records.filter { kinds.contains($0.kind) && !$0.item.isEmpty }.map(\.item)).sorted()
    }

    /// How many successes an entry stands for; nil for another outcome.
    private static func count(of outcome: String) -> Int? {
        guard outcome.hasPrefix("success") else { return nil }
        let rest = outcome.dropFirst("success".count)
        if rest.isEmpty { return 1 }
        guard rest.hasPrefix(" × "), let count = Int(rest.dropFirst(3)), count > 0 else { return nil }
        return count
    }

    /// Whether there is no rule.
    package var isEmpty: Bool { uses.isEmpty }

    /// The rules, as they would be added.
    package var rules: [String] { sorted.flatMap { program, paths in paths.map { rule(program, $0) } } }

    /// The programs by their number of uses, with the paths of their items.
    private var sorted: [(program: AuditedProgram, paths: [String])] {
        let counted = uses.map { program, uses in
            (program, uses, count: uses.values.reduce(0) { (sum: Int, use: Use) in sum.addingClamped(use.count) })
        }
        return counted.sorted { first, second in
            (second.count, first.0.identity) < (first.count, second.0.identity)
        }.map { program, uses, _ in (program, uses.keys.sorted()) }
    }

    private func rule(_ program: AuditedProgram, _ path: String) -> String {
        "allow \(program.ruleText) item=\(RuleQuotation.quote(path))"
    }

    // MARK: The file

    /// - Parameter since: the beginning of the uses, in words; nil for all that the audit has.
    package func lines(since: String?) -> [String] {
        let title =
            since.map { Text("Rules for what programs have used since \($0), by the audit.") }
            ?? Text("Rules for what programs have used, by the audit.")
        var lines = Self.comment([
            title, Text("None of them counts yet. Read them, delete what should not be, then add the file:"),
        ])
        lines.append("#     keychainctl rules add --file FILE")
        for (program, paths) in sorted {
            lines += [""] + Self.comment([Text(verbatim: program.identity.visible), program.strength.explanation])
            for path in paths { lines += Self.comment([words(for: path, of: program)]) + [rule(program, path)] }
        }
        lines += ending
        return lines
    }

    private var ending: [String] {
        var lines: [String] = []
        if !unnamed.isEmpty {
            let heading = Text("No rule can allow these programs, since any other could be behind their names:")
            lines += [""] + Self.comment([heading])
            for caller in unnamed.keys.sorted() { lines += ["#     \(caller.visible)"] }
        }
        if gone > 0 {
            let text = Text(
                gone,
                one: "\(gone) use was of an item that no longer exists.",
                other: "\(gone) uses were of items that no longer exist."
            )
            lines += [""] + Self.comment([text])
        }
        let rest = Text("To be asked about everything else, once a session, remove the # before this rule:")
        return lines + [""] + Self.comment([rest]) + ["# ask-once any *"]
    }

    private func words(for path: String, of program: AuditedProgram) -> Text {
        guard let item = items[path], let use = uses[program]?[path] else { return .empty }
        let attributes = item.attributes.sorted { $0.key < $1.key }.filter { !$0.key.hasPrefix("keychain:") }
        let shown = attributes.prefix(Self.attributeLimit).map { name, value in
            Text(verbatim: "\(name.visible)=\(value.visible)")
        }
        let (label, last) = (item.label.visible, Time.minute(use.last / 1_000_000))
        let times = Text(
            use.count,
            one: "“\(label)”, used \(use.count) time, last on \(last)",
            other: "“\(label)”, used \(use.count) times, last on \(last)"
        )
        return .list([times] + shown)
    }

    private static func comment(_ texts: [Text]) -> [String] {
        texts.flatMap { $0.localized.split(separator: "\n", omittingEmptySubsequences: true).map { "# \($0)" } }
    }
}

extension Int {
    /// The sum of two numbers of uses, which any provider may make up.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

extension AuditedProgram {
    /// The identity as a rule has it.
    package var ruleText: String { "\(kind):\(RuleQuotation.quote(name))" }
}

extension AuditedProgram.Strength {
    fileprivate var explanation: Text {
        switch self {
        case .proven: Text("Proven: the program cannot leave its sandbox or choose its name.")
        case .likely: Text("Likely: only an administrator can change the program, but others can act through it.")
        case .said: Text("Said: any of your programs can pretend to be this one.")
        }
    }
}
