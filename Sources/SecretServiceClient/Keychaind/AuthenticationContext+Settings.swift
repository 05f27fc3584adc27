import DBus

extension AuthenticationContext {
    /// How an authentication is to look, and how long it is to last.
    package struct Settings: Hashable, Sendable {
        /// How many bytes of a reason the provider takes.
        private static let reasonLimit = 1000
        private static let titleLimit = 100

        /// Why the person should authenticate.
        package var reason = ""

        /// On the button that cancels; empty for the usual text.
        package var cancelTitle = ""

        /// On the button that falls back to something else; nil for the usual text, empty for no such button.
        package var fallbackTitle: String?

        /// How long an authentication serves within the context; zero is good for one use.
        package var reuse = Duration.seconds(10)

        /// How long the grants that it gives last; zero is good for one use.
        package var grants = Duration.seconds(10)

        /// Whether a person may be asked.
        package var isInteractionAllowed = true

        /// The usual texts and times, which are those of a new context.
        package init() {}

        /// The properties that differ from those of other settings, which the provider has.
        func values(changedFrom other: Settings) -> [(name: String, value: Variant)] {
            let (own, others) = (properties, other.properties)
            return own.indices.filter { index in
                // To the provider, grants last as long as an authentication until it is told otherwise.
                own[index].value != others[index].value || own[index].name == "GrantDuration" && reuse != other.reuse
            }.map { own[$0] }
        }

        private var properties: [(name: String, value: Variant)] {
            [
                ("Reason", .string(Settings.cut(reason, to: Settings.reasonLimit))),
                ("CancelTitle", .string(Settings.cut(cancelTitle, to: Settings.titleLimit))),
                ("FallbackTitle", .string(Settings.cut(fallbackTitle ?? "", to: Settings.titleLimit))),
                ("FallbackHidden", .boolean(fallbackTitle?.isEmpty == true)),
                ("ReuseDuration", .uint32(Settings.milliseconds(reuse))),
                ("GrantDuration", .uint32(Settings.milliseconds(grants))),
                ("InteractionNotAllowed", .boolean(!isInteractionAllowed)),
            ]
        }

        /// The provider refuses more than five minutes.
        private static func milliseconds(_ duration: Duration) -> UInt32 {
            UInt32(clamping: Int64(max(.zero, min(duration, .seconds(300))) / .milliseconds(1)))
        }

        /// As much of a text as the provider takes, without what D-Bus does not carry.
        package static func cut(_ text: String, to limit: Int = reasonLimit) -> String {
            var cut = ""
            var count = 0
            for character in text where !character.utf8.contains(0) {
                count += character.utf8.count
                guard count <= limit else { break }
                cut.append(character)
            }
            return cut
        }
    }
}
