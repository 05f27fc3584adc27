/// What a search over all collections has found.
public struct SecretSearchResult: Hashable, Sendable {
    /// Items whose secrets can be read.
    public var unlocked: [SecretItem]

    /// Items that have to be unlocked first.
    ///
    /// They are there: a program that takes them for missing makes its user lose what they hold.
    public var locked: [SecretItem]

    /// All of them, those that can be read first.
    public var all: [SecretItem] { unlocked + locked }
}
