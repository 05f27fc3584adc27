package import KeychaindAuthentication
package import KeychaindDesktop
package import KeychaindLanguage
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

/// The headlines: they end with what else an answer opens, and for how long.
extension AuthenticationPurpose {
    /// Maximum bytes of what programs choose in a headline.
    private struct Room {
        let caller: Int
        let keychain: Int
        /// Of the items, where the headline says that they are not all; nil for all.
        let names: Int?
    }

    /// The bytes that every prompter shows; it cuts the end of longer texts.
    private static let headlineBytes = 600

    private static let rooms = [
        Room(caller: 160, keychain: 100, names: nil), Room(caller: 130, keychain: 48, names: 120),
        Room(caller: 100, keychain: 24, names: 60),
    ]

    /// States the program and the approved use, and the time if it covers more than the named items.
    var headline: Text {
        fitting { room in
            let caller = callerName(in: room)
            switch (names.isEmpty, scope, time) {
            case (true, nil, _):
                return Text("\(caller) wants to know that it is you")
            // Translators: "every item that your password protects, for 5 minutes"
            case (true, let scope?, _) where scope.allowsChanges:
                return Text("\(caller) wants to know that it is you, and use or change \(scope.text)")
            case (true, let scope?, _):
                return Text("\(caller) wants to know that it is you, and use \(scope.text)")
            // Translators: a program, and an action such as "use “Bank”"
            case (false, nil, nil):
                return Text("\(caller) wants to \(wish(in: room))")
            // Translators: a program, an action such as "use “Bank”", and a time such as "5 minutes"
            case (false, nil, let time?):
                return Text("\(caller) wants to \(wish(in: room)), for \(time)")
            // Translators: ends in "every item that your password protects, for 5 minutes"
            case (false, let scope?, _) where scope.allowsChanges:
                return Text("\(caller) wants to \(wish(in: room)), and use or change \(scope.text)")
            case (false, let scope?, _):
                return Text("\(caller) wants to \(wish(in: room)), and \(scope.text)")
            }
        }
    }

    /// The headline of a dialog for the password of a keychain, which is the passcode.
    package func headline(unlocking keychain: String) -> Text {
        fitting { room in
            let caller = callerName(in: room)
            let keychain = PromptText.prefix(of: PromptText.name(keychain), bytes: room.keychain)
            let action = wish(in: room)
            // Translators: an action such as "use “Bank”", and "every item that your password protects, for 5 minutes"
            if let scope, scope.allowsChanges {
                return Text(
                    "\(caller) wants to unlock the keychain “\(keychain)”, \(action), and use or change \(scope.text)"
                )
            }
            if let scope {
                return Text("\(caller) wants to unlock the keychain “\(keychain)”, \(action), and \(scope.text)")
            }
            // Translators: an action such as "use “Bank”", and a time such as "5 minutes"
            if let time {
                return Text("\(caller) wants to unlock the keychain “\(keychain)” and \(action), for \(time)")
            }
            return Text("\(caller) wants to unlock the keychain “\(keychain)” and \(action)")
        }
    }

    /// The headline with as much room as lets a prompter show its end.
    private func fitting(_ headline: (Room) -> Text) -> Text {
        var text = Text.empty
        for room in AuthenticationPurpose.rooms {
            text = headline(room)
            if caller.language.string(text, isolating: true).shownBytes <= AuthenticationPurpose.headlineBytes { break }
        }
        return text
    }

    private func wish(in room: Room) -> Text {
        let all = ItemNames.list(names)
        guard scope != nil, let bytes = room.names else { return action.text(all) }
        return action.text(all.cut(bytes: bytes))
    }

    /// The lifetime of the grant, if it is longer than usual.
    private var time: Text? {
        action == .use && settings.grantReuse > GrantReuse.standard.lifetime ? settings.grantReuse.words : nil
    }

    private func callerName(in room: Room) -> Text {
        caller.name.subject.cut(bytes: room.caller)
    }
}
