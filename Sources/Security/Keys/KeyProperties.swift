#if Keys
import KeychaindModel

/// The attributes that a program gave a key at its creation.
struct KeyProperties: Sendable {
    /// Not those that follow from the key itself.
    let values: [KeychainAttribute: KeychainValue]

    let label: String?

    /// Whether a program may have the bytes of the key.
    var isExtractable: Bool { values[.isExtractable] != .boolean(false) }

    init() {
        values = [:]
        label = nil
    }

    init(of query: ItemQuery) {
        values = query.values.filter { !KeyProperties.own.contains($0.key) }
        label = query.label
    }

    /// Those of an item also say how it is protected.
    init(of item: KeychainItem) {
        let others = KeyProperties.own.subtracting([.accessible, .accessControl])
        values = item.values.filter { !others.contains($0.key) }
        label = item.label
    }

    /// The attributes that follow from a key, or are those of an item only.
    private static let own: Set<KeychainAttribute> = [
        .keyClass, .keyType, .keySize, .effectiveKeySize, .publicKey, .isPermanent, .accessible, .accessControl,
        .synchronizable,
    ]

    /// What a key can do unless its attributes say otherwise (SecKey.h).
    static func usages(of keyClass: KeyClass) -> [KeychainAttribute: KeychainValue] {
        guard keyClass != .symmetric else { return [:] }
        let isPrivate = keyClass == .private
        return [
            .canDecrypt: .boolean(isPrivate), .canSign: .boolean(isPrivate), .canUnwrap: .boolean(isPrivate),
            .canEncrypt: .boolean(!isPrivate), .canVerify: .boolean(!isPrivate), .canWrap: .boolean(!isPrivate),
            .canDerive: .boolean(true),
        ]
    }
}
#endif
