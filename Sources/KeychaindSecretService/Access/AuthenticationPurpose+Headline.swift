import KeychaindAuthentication
import KeychaindDesktop
package import KeychaindLanguage

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
