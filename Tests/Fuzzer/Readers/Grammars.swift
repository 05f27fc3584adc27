import KeychaindConfiguration
import KeychaindModel
import KeychaindRules

@testable import KeychaindSecretService

/// Texts with a grammar: settings, rules, access controls, access groups, names of collections.
extension FuzzReader {
    static let grammars = [
        FuzzReader("configuration") { bytes in _ = try Configuration(parsing: bytes.copied) },
        FuzzReader("rule") { bytes in
            let rule = try Rule(bytes.text)
            promise((try? Rule(rule.text)) == rule, "a rule is the same when it is written and read again")
            promise(
                !rule.text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F },
                "the text of a rule has no control characters"
            )
        },
        FuzzReader("stored-rules") { bytes in
            guard let rules = StoredRules(decoding: bytes.copied) else { throw Refusal() }
            promise(StoredRules(decoding: rules.encoded) == rules, "stored rules stay the same")
            let selection = RuleSet(rules.rules.map(\.entry)).selection(for: nil, at: Timestamp(seconds: 0))
            _ = selection.decision(on: RuleSubject(nil, in: .login, with: Attributes([("service", "a")])))
        },
        FuzzReader("access-control") { bytes in
            let control = try AccessControl(parsing: bytes.text)
            // The canonical text has spaces that may make it too long.
            guard control.description.utf8.count <= AccessControl.maximumLength else { return }
            let again = try? AccessControl(parsing: control.description)
            promise(again?.policy == control.policy && again != nil, "the canonical text requires the same")
        },
        FuzzReader("access-groups") { bytes in
            var groups = AccessGroups(folders: [])
            groups.add(bytes.copied)
            _ = groups.groups(of: "flatpak:org.example.Mail")
        },
        FuzzReader("collection-name") { bytes in
            let text = bytes.text
            promise(
                CollectionName(encoded: CollectionName(label: text).encoded) != nil,
                "the name of every label is a name"
            )
            guard let name = CollectionName(encoded: text) else { throw Refusal() }
            promise(!name.encoded.contains("/") && !name.encoded.contains("."), "a name is no path")
            _ = name.numbered(12)
        },
        FuzzReader("attributes") { bytes in
            guard let attributes = Attributes(validating: bytes) else { throw Refusal() }
            promise(attributes.packed.elementsEqual(bytes), "attributes have one form")
            _ = KeychainItem(attributes, label: "")
        },
    ]
}
