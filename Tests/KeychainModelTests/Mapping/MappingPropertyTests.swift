import KeychaindModel
import KeychaindTestSupport
import Testing

struct MappingPropertyTests {
    @Test
    func item_writtenAndRead_isEqual() {
        var random = RandomItems(seed: 1)
        for _ in 0..<3000 {
            let item = random.item()
            #expect(KeychainItem(item.attributes, label: item.storedLabel) == item)
        }
    }

    @Test
    func attributes_readAndWritten_areEqual() {
        var random = RandomItems(seed: 2)
        for _ in 0..<5000 {
            let attributes = random.attributes()
            let label = random.text()
            let item = KeychainItem(attributes, label: label)
            #expect(item.attributes == attributes, "\(item)")
            #expect(item.storedLabel.utf8.elementsEqual(label.utf8))
        }
    }

    @Test
    func attributes_unlabelled_areEqualForAnyLabel() {
        var random = RandomItems(seed: 3)
        for _ in 0..<1000 {
            var item = random.item()
            item.label = nil
            for label in [item.storedLabel, "renamed", ""] {
                let read = KeychainItem(item.attributes, label: label)
                #expect(read.attributes == item.attributes)
                #expect(read.storedLabel == label)
                #expect((read.label == nil) == (label == item.storedLabel))
            }
        }
    }

    @Test
    func searches_matchingItem_isFound() {
        var random = RandomItems(seed: 4)
        var matches = 0
        for _ in 0..<3000 {
            let item = random.item()
            // A query with part of the item's attributes, and an unrelated one.
            for query in [part(of: item), random.item()] where query.matches(item) {
                // An empty value is searched for literally, but also matches an absent one.
                guard query.values.allSatisfy({ item[$0.key] == $0.value || $0.value == .boolean(false) }) else {
                    continue
                }
                matches += 1
                let searches = query.searches.map { Attributes($0.map { ($0.key, $0.value) }) }
                #expect(searches.contains { item.attributes.contains(all: $0) }, "\(query) does not find \(item)")
            }
            #expect(item.matches(item))
        }
        #expect(matches > 2000)
    }

    private func part(of item: KeychainItem) -> KeychainItem {
        var query = KeychainItem(item.itemClass)
        for (index, value) in item.values.enumerated() where index.isMultiple(of: 2) {
            try? query.set(value.key, to: value.value)
        }
        return query
    }
}

/// Random items and attributes, often awkward ones.
struct RandomItems {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// An item of Apple's API with some attributes of its class.
    mutating func item() -> KeychainItem {
        var item = KeychainItem(ItemClass.allCases.randomElement(using: &generator)!)
        if Bool.random(using: &generator) {
            item.label = text()
            item.isLabelData = Bool.random(using: &generator)
        }
        for attribute in KeychainAttribute.allCases where Int.random(in: 0..<3, using: &generator) == 0 {
            // An unsupported attribute or value is refused and leaves the item unchanged.
            try? item.set(attribute, to: value())
        }
        return item
    }

    /// Attributes of any program: known names with valid and invalid values, and unknown names.
    mutating func attributes() -> Attributes {
        let names = [
            "xdg:schema", "keychain:class", "keychain:unlabelled", "service", "account", "username", "user", "server",
            "protocol", "port", "object", "domain", "authtype", "application", "keychain:generic", "keychain:creator",
            "keychain:synchronizable", "key-size", "key-class", "key-type", "issuer", "caf\u{e9}", "cafe\u{301}", "",
            "keychain:invisible", "keychain:other-types",
        ]
        let values = [
            "org.freedesktop.Secret.Generic", "org.gnome.keyring.NetworkPassword", "org.git.Password",
            "org.keychaind.Key",
            "genericPassword", "internetPassword", "certificate", "key", "identity", "true", "false", "TRUE", "https",
            "rsa", "private", "HTTPS", "gopher", "basic", "80", "080", "+80", "-1", "65536", "99999999999999999999",
            "00ff", "00FF", "0",
            "",
            "e\u{301}", "\u{e9}", "account", "account,service", "label", "generic", "data:application/octet-stream,%ff",
            "data:application/octet-stream,%61%00", "data:application/octet-stream,%61",
            "data:application/octet-stream,%FF",
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
