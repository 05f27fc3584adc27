import KeychaindDesktop

/// How a flavour of pinentry shows texts.
struct PinentryLayout: Hashable, Sendable {
    /// The longest line in characters; nil if it breaks lines itself.
    let lineLength: Int?
    /// Whether a terminal shows the texts.
    let isTerminal: Bool
    /// Whether the program is keychaind's own, with a place for each text, which it changes while it asks.
    let isOwn: Bool

    init() {
        self.init(flavor: "")
    }

    /// - Parameter flavor: the answer to `GETINFO flavor`, with a fallback after a colon.
    init(flavor: String) {
        let used = flavor.split(separator: ":").last ?? ""
        // pinentry-qt makes its window as wide as the longest line, and wider than the screen; pinentry-tty leaves the
        // breaks to the terminal, which makes them within words.
        lineLength = used.hasPrefix("qt") || used.hasPrefix("tqt") || used == "tty" ? 72 : nil
        isTerminal = ["curses", "tty"].contains(used)
        isOwn = used == "keychaind"
    }

    /// A text as it is sent.
    func shown(_ text: String) -> String {
        isTerminal ? PromptText.withoutIsolates(text) : text
    }

    /// Breaks long lines between words.
    func wrap(_ text: String) -> String {
        guard let lineLength else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { PinentryLayout.wrap($0, at: lineLength) }.joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, at length: Int) -> String {
        var lines: [String] = []
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
            if let last = lines.last, last.count + 1 + word.count <= length {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }
}
