package import KeychaindAuthentication
package import KeychaindDesktop
import KeychaindLanguage
package import KeychaindModel

/// The purpose of an authentication.
package struct AuthenticationPurpose: Sendable {
    let caller: Caller

    var action = ItemAction.use

    /// The items, each named in the dialog; empty if a program asks only who is present.
    let names: [ItemName]

    let settings: AuthenticationSettings

    /// The labels of the items' keychains.
    var keychains: [String] = []

    /// What the answer also opens; nil for nothing.
    package var scope: ProofScope?

    /// What else the dialog offers, if anything.
    var choice: PromptRequest.Choice<Text>?

    private static let reasonLimit = 300

    /// Maximum bytes of the label of a keychain.
    private static let keychainBytes = 100

    package init(caller: Caller, names: [ItemName], settings: AuthenticationSettings) {
        self.caller = caller
        self.names = names
        self.settings = settings
    }

    /// The texts of the dialog.
    package func words(windowID: String) -> EvaluationWords {
        var words = EvaluationWords(
            language: caller.language,
            message: headline,
            circumstances: circumstances,
            reason: reason,
            caller: caller.fullName,
            callerDetails: caller.details,
            cancelLabel: Text(verbatim: settings.cancelTitle),
            fallbackLabel: fallbackLabel,
            windowID: windowID
        )
        words.choice = choice
        return words
    }

    /// The programs around the caller, and the keychains of the items.
    private var circumstances: Text {
        let labels = keychains.map { label in
            Text("“\(PromptText.prefix(of: PromptText.name(label), bytes: AuthenticationPurpose.keychainBytes))”")
        }
        let place = Text(labels.count, one: "Keychain: \(Text.list(labels))", other: "Keychains: \(Text.list(labels))")
        return .lines([caller.circumstances, labels.isEmpty ? .empty : place])
    }

    /// The program's reason, quoted to set it apart from keychaind's text.
    var reason: Text {
        if settings.reason.isEmpty { return .empty }
        return Text("It says: “\(PromptText.name(settings.reason, limit: AuthenticationPurpose.reasonLimit))”")
    }

    /// The fallback button: empty for none, nil for the default text.
    ///
    /// An item has none by default, as only its policy opens it.
    private var fallbackLabel: Text? {
        if settings.hidesFallback || (settings.fallbackTitle.isEmpty && !names.isEmpty) { return .empty }
        return settings.fallbackTitle.isEmpty ? nil : Text(verbatim: settings.fallbackTitle)
    }
}

/// The further use of an answer: the context keeps the proof, which serves every item that requires it.
package struct ProofScope: Sendable {
    /// Factors that serve for other items, too.
    let factors: FactorSet

    let reuse: Duration

    /// Whether the answer also allows changes of such items, without their protection.
    var allowsChanges = false

    /// The scope of a policy; an application password proves nothing for other items.
    package init(of policy: Policy, for reuse: Duration) {
        factors = policy.factors.subtracting(.applicationPassword)
        self.reuse = reuse
    }

    /// The scope in a dialog, to follow a verb.
    var text: Text {
        // Translators: a time such as "5 minutes"
        let time = GrantReuse(reuse).isSingle ? Text("once") : Text("for \(reuse.words)")
        let hasFinger = !factors.isDisjoint(with: .biometry)
        // Translators: these follow a verb such as "use"; they end in "once" or "for 5 minutes"
        return switch (hasFinger, factors.contains(.passcode)) {
        case (true, true): Text("every item that your fingerprint or password protects, \(time)")
        case (true, false): Text("every item that your fingerprint protects, \(time)")
        case (false, _): Text("every item that your password protects, \(time)")
        }
    }
}

/// An item, as a dialog names it.
package struct ItemName: Sendable {
    let label: String

    /// Whether it is a private key, which a program uses and need not read.
    var isKey: Bool

    package init(label: String, isKey: Bool = false) {
        self.label = label
        self.isKey = isKey
    }
}

/// Names of items in a dialog.
///
/// Programs choose the labels, in any length and number: each is cleaned and cut.
enum ItemNames {
    /// Maximum bytes of a name, and of all names in a headline: every prompter shows so much.
    private static let nameBytes = 100
    private static let listBytes = 300

    private static let summaryCount = 8

    /// All names, each in quotation marks.
    static func list(_ names: [ItemName]) -> Text {
        .list(names.map(text))
    }

    /// The first names, and the number of others.
    static func summary(_ labels: [String], first count: Int = summaryCount) -> Text {
        let rest = labels.count - count
        let names = list(labels.prefix(count).map { ItemName(label: $0) })
        // Translators: names of items
        return rest > 0 ? Text(rest, one: "\(names) and \(rest) more", other: "\(names) and \(rest) more") : names
    }

    /// The room for names in one dialog; the first one always has room.
    struct Room {
        private var bytes: Int?

        /// Takes the room of a name; false if there is too little.
        mutating func take(_ name: ItemName) -> Bool {
            let count = text(name).english.shownBytes + separatorBytes
            guard let rest = bytes else {
                bytes = listBytes - count
                return true
            }
            bytes = rest - count
            return count <= rest
        }
    }

    /// Items in parts of at least one that one dialog can name; each is made in its turn, as names take long to spell.
    struct Parts<Item>: Sequence, IteratorProtocol {
        fileprivate var rest: ArraySlice<Item>
        fileprivate let name: (Item) -> ItemName

        mutating func next() -> [Item]? {
            var room = Room()
            let part = rest.prefix { room.take(name($0)) }
            rest = rest.dropFirst(part.count)
            return part.isEmpty ? nil : Array(part)
        }
    }

    static func parts<Item>(of items: [Item], name: @escaping (Item) -> ItemName) -> Parts<Item> {
        Parts(rest: items[...], name: name)
    }

    private static let separatorBytes = 2

    private static func text(_ name: ItemName) -> Text {
        let label = PromptText.prefix(of: PromptText.name(name.label), bytes: nameBytes)
        guard !label.isEmpty else {
            return name.isKey ? Text("a key without a name") : Text("an item without a name")
        }
        return name.isKey ? Text("the key “\(label)”") : Text("“\(label)”")
    }
}
