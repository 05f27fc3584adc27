/// What an item may ask for before it is released.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits, as on Apple's systems.
    public let rawValue: CFOptionFlags

    /// Takes bits.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// Biometry, or the passcode instead.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)

    /// Any enrolled finger, also one that is enrolled later.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)

    /// A finger of those that are enrolled now.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)

    /// The passcode.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)

    /// A watch or another device nearby; not supported here.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)

    /// One of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)

    /// All constraints have to be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)

    /// A private key may be used for signing; not supported here.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)

    /// A password of the item's own.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    /// The older name of ``biometryAny``.
    @available(*, deprecated, renamed: "biometryAny")
    public static let touchIDAny = biometryAny

    /// The older name of ``biometryCurrentSet``.
    @available(*, deprecated, renamed: "biometryCurrentSet")
    public static let touchIDCurrentSet = biometryCurrentSet

    /// Everything that is known.
    static let known: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]
}
