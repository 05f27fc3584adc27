import Glibc
import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindImport
import KeychaindLanguage
import Synchronization

/// What a person sees of an import: the table on standard output, progress and questions on the terminal.
final class ImportScreen: ImportMessages {
    private let interruption: Interruption
    /// Whether the last line on standard error is a progress line.
    private let hasProgress = Mutex(false)
    /// The answer for all further items; nil for none.
    private let forAll = Mutex<Import.Decision?>(nil)
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(_ interruption: Interruption) {
        self.interruption = interruption
    }

    // MARK: Progress

    func progress(_ step: Text, _ count: Int, of total: Int) {
        guard isTerminal, total > 0 else { return }
        hasProgress.withLock { hasProgress in
            hasProgress = true
            let width = 30
            let filled = min(width, count * width / total)
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
            let amount = Text("\(count) of \(total)").localized
            put("\r\(step.localized) [\(bar)] \(amount)\u{1B}[K")
        }
    }

    func finishProgress() {
        hasProgress.withLock { hasProgress in
            if hasProgress { put("\r\u{1B}[K") }
            hasProgress = false
        }
    }

    func tell(_ text: Text) {
        finishProgress()
        put("\(text.localized)\n")
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    // MARK: The plan

    /// Prints a row for each keychain.
    func show(_ plan: ImportPlan, _ contents: SourceContents) {
        finishProgress()
        var rows = [
            [Text("KEYCHAIN"), Text("NEW"), Text("SAME"), Text("DIFFERS")].map(\.localized)
        ]
        for keychain in plan.keychains {
            let comparison = keychain.comparison
            let counts = [comparison.new.count, comparison.same.count, comparison.differing.count]
            rows.append([keychain.name.visible] + counts.map(\.description))
        }
        printTable(rows)
        for secret in contents.portalSecrets { Terminal.say("Portal secret of \(secret.name.localized.visible)") }
        for (name, reason) in contents.skipped {
            Terminal.say("Keychain “\(name.visible)” stays behind: \(reason)")
        }
    }

    private func printTable(_ rows: [[String]]) {
        let widths = rows[0].indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
        for row in rows {
            var line = row[0] + String(repeating: " ", count: widths[0] - row[0].columns)
            for (cell, width) in zip(row, widths).dropFirst() {
                line += "  " + String(repeating: " ", count: width - cell.columns) + cell
            }
            print(line)
        }
    }

    // MARK: Decisions

    /// The decision for an item that differs: that of the options, or of the person at the terminal.
    func decide(
        _ item: DifferingItem,
        in keychain: String,
        _ choice: DifferenceChoice?
    ) throws -> Import.Decision {
        switch choice {
        case .replace: return .replace
        case .keep: return .keep
        case nil: break
        }
        if let decision = forAll.withLock({ $0 }) { return decision }
        guard isTerminal, isatty(STDIN_FILENO) == 1 else { return .leave }
        let parts = Text.list(item.differences.map(\.text))
        while true {
            let (label, keychain) = (item.item.item.label.visible, keychain.visible)
            // Translators: ends in a list of parts, such as "secret, label"
            let place = Text("“\(label)” in “\(keychain)” is in keychaind with another \(parts).")
            // Translators: the letters in brackets are typed, and stay as they are
            let choice = Text("[k]eep keychaind's, [r]eplace it, [K]eep all, [R]eplace all, [s]kip: ")
            put("\(place.localized)\n\(choice.localized)")
            switch try readAnswer() {
            case "k": return .keep
            case "r": return .replace
            case "K": return decideAll(.keep)
            case "R": return decideAll(.replace)
            case "s": return .leave
            default: continue
            }
        }
    }

    private func decideAll(_ decision: Import.Decision) -> Import.Decision {
        forAll.withLock { $0 = decision }
        return decision
    }

    private func readAnswer() throws -> String {
        let isReady = Interruption.isReady(STDIN_FILENO, for: POLLIN, unless: interruption.descriptor)
        guard isReady, let line = readLine() else {
            throw CommandFailure(.cancelled, "cancelled; nothing was written")
        }
        return line
    }

    // MARK: The end

    /// Writes and prints the report; throws ``ExitStatus/incomplete`` if something stayed behind.
    func finish(_ report: ImportReport) throws {
        finishProgress()
        // Before anything is printed, since a closed pipe ends the command.
        let written = Result { () throws(CommandFailure) in try report.write() }
        Terminal.say(
            """
            \(report.items) items: \(report.copied) copied, \(report.same) were there, \(report.left) left; \
            \(report.verified) verified
            """
        )
        for item in report.leftItems {
            Terminal.say("Left: “\(item.label)” in “\(item.keychain)”: \(item.shownReason.localized.visible)")
        }
        let path = try written.get()
        Terminal.say("Report: \(path.visible)")
        let kept = report.leftItems.count { $0.reason == ImportReport.keptReason }
        guard report.left == kept, report.skippedKeychains.isEmpty else {
            throw CommandFailure(.incomplete, "not everything was imported; what stayed behind is named above")
        }
    }
}
