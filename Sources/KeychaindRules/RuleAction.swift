/// What happens when a program reads an item, from the least strict.
package enum RuleAction: String, CaseIterable, Comparable, Sendable {
    /// The item may be read, as far as its access control allows.
    case allow

    /// The same, and a person is told.
    case notify

    /// A person is asked, once until the screen is locked or the login session ends.
    case askOnce = "ask-once"

    /// A person is asked each time.
    case askAlways = "ask-always"

    /// The item is refused, without a dialog.
    case never

    /// The item does not exist for the program.
    case hide

    package static func < (first: RuleAction, second: RuleAction) -> Bool { first.order < second.order }

    /// Whether the read goes on without a person.
    package var isLenient: Bool { self <= .notify }

    private var order: Int {
        switch self {
        case .allow: 0
        case .notify: 1
        case .askOnce: 2
        case .askAlways: 3
        case .never: 4
        case .hide: 5
        }
    }
}
