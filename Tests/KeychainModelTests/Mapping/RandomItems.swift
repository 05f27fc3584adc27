import KeychainModel
import TestSupport

/// Items and attributes at random, the awkward ones often.
struct RandomItems {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// An item of Apple's API, with some of the attributes that its class has.
    mutating func item() -> KeychainItem {
        var item = KeychainItem(ItemClass.allCases.randomElement(using: &generator)!)
        if Bool.random(using: &generator) { item.label = text() }
        for attribute in KeychainAttribute.allCases where Int.random(in: 0..<3, using: &generator) == 0 {
            // What the class does not have, or the attribute cannot be, is refused and leaves the item as it was.
            try? item.set(attribute, to: value())
        }
        return item
    }

    /// Attributes of any program: known names with good and bad values, and unknown names.
    mutating func attributes() -> Attributes {
        let names = [
            "xdg:schema", "keychain:class", "keychain:unlabelled", "service", "account", "username", "user", "server",
            "protocol", "port", "object", "domain", "authtype", "application", "keychain:generic", "keychain:creator",
            "keychain:synchronizable", "key-size", "key-class", "key-type", "issuer", "caf\u{e9}", "cafe\u{301}", "",
            "keychain:invisible",
        ]
        let values = [
            "org.freedesktop.Secret.Generic", "org.gnome.keyring.NetworkPassword", "org.git.Password",
            "org.keychaind.Key",
            "genericPassword", "internetPassword", "certificate", "key", "identity", "true", "false", "TRUE", "https",
            "rsa", "private", "HTTPS", "gopher", "basic", "80", "080", "+80", "-1", "65536", "99999999999999999999",
            "00ff", "00FF", "0",
            "",
            "e\u{301}", "\u{e9}",
        ]
        let count = Int.random(in: 0...8, using: &generator)
        return Attributes(
            (0..<count).map { _ in
                let value = Bool.random(using: &generator) ? values.randomElement(using: &generator)! : text()
                return (names.randomElement(using: &generator)!, value)
            }
        )
    }

    mutating func text() -> String {
        let alphabet = ["a", "B", "0", " ", "\u{e9}", "e\u{301}", "\u{1F511}", "\n", "=", "\u{202E}"]
        return (0..<Int.random(in: 0...5, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
            .joined()
    }

    private mutating func value() -> KeychainValue {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: .text(text())
        case 1: .text(InternetProtocol.allCases.randomElement(using: &generator)!.code)
        case 2: .text(AuthenticationScheme.allCases.randomElement(using: &generator)!.code)
        case 3: .data(generator.bytes(upTo: 6))
        case 4: .number([0, 1, 80, 65535, 65536, Int64(UInt32.max), -1].randomElement(using: &generator)!)
        case 5: .text(KeyClass.allCases.randomElement(using: &generator)!.code)
        case 6: .text(KeyType.allCases.randomElement(using: &generator)!.code)
        default: .boolean(Bool.random(using: &generator))
        }
    }
}
