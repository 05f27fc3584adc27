import KeychaindModel
import Testing

struct KeychainItemTests {
    private func item(_ itemClass: ItemClass, _ values: [KeychainAttribute: KeychainValue]) throws -> KeychainItem {
        var item = KeychainItem(itemClass)
        for (attribute, value) in values {
            try item.set(attribute, to: value)
        }
        return item
    }

    @Test
    func attributes_genericPassword_matchOtherPrograms() throws {
        var item = try item(
            .genericPassword,
            [.service: .text("mail"), .account: .text("anna"), .generic: .data([0, 255])]
        )
        item.label = "Mail"
        #expect(
            item.attributes == [
                "xdg:schema": "org.freedesktop.Secret.Generic", "service": "mail", "account": "anna",
                "keychain:class": "genericPassword", "keychain:generic": "00ff",
            ]
        )
        #expect(item.storedLabel == "Mail")
    }

    @Test
    func attributes_internetPassword_matchGNOME() throws {
        let item = try item(
            .internetPassword,
            [
                .server: .text("example.com"), .account: .text("anna"), .protocol: .text("htps"), .port: .number(443),
                .path: .text("/mail"), .securityDomain: .text("realm"), .authenticationType: .text("httd"),
                .accessControl: .text("userPresence"), .synchronizable: .boolean(false),
            ]
        )
        #expect(
            item.attributes == [
                "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "example.com", "user": "anna",
                "protocol": "https", "port": "443", "object": "/mail", "domain": "realm", "authtype": "digest",
                "keychain:access-control": "userPresence", "keychain:synchronizable": "false",
                "keychain:class": "internetPassword", "keychain:unlabelled": "true",
            ]
        )
        #expect(item.storedLabel == "example.com – anna")
    }

    @Test(
        arguments: [
            // keytar
            ["xdg:schema": "org.freedesktop.Secret.Generic", "service": "mail", "account": "anna"],
            // go-keyring
            ["service": "mail", "username": "anna"],
            // Python's keyring
            ["application": "Python keyring library", "service": "mail", "username": "anna"],
        ] as [Attributes]
    )
    func init_genericPasswordOfOtherProgram_isRecognized(attributes: Attributes) {
        let item = KeychainItem(attributes, label: "Password for anna")
        #expect(item.itemClass == .genericPassword)
        #expect(item[.service] == .text("mail"))
        #expect(item[.account] == .text("anna"))
        #expect(item.label == "Password for anna")
    }

    @Test
    func init_itemOfGit_isInternetPassword() {
        let item = KeychainItem(
            [
                "xdg:schema": "org.git.Password", "user": "anna", "server": "example.com", "protocol": "https",
                "port": "8443",
                "object": "repository.git",
            ],
            label: "Git: https://example.com"
        )
        #expect(item.itemClass == .internetPassword)
        #expect(item[.account] == .text("anna"))
        #expect(item[.protocol] == .text("htps"))
        #expect(item[.port] == .number(8443))
        #expect(item[.path] == .text("repository.git"))
    }

    @Test
    func init_valuesUnknownToApple_areKept() {
        let attributes: Attributes = [
            "xdg:schema": "org.gnome.keyring.NetworkPassword", "protocol": "sftp", "port": "08",
            "server": "example.com",
        ]
        let item = KeychainItem(attributes, label: "")
        #expect(item[.protocol] == nil)
        #expect(item[.port] == nil)
        #expect(item.others == ["protocol": "sftp", "port": "08"])
        #expect(item.attributes == attributes)
    }

    @Test
    func set_keptAttribute_replacesIt() throws {
        var item = KeychainItem(["xdg:schema": "org.gnome.keyring.NetworkPassword", "port": "08", "x": "y"], label: "")
        try item.set(.port, to: .number(8))
        #expect(item.attributes["port"] == "8")
        #expect(item.others == ["x": "y"])
        try item.set(.port, to: nil)
        #expect(item.attributes["port"] == nil)
    }

    @Test
    func set_accountOfForeignItem_keepsName() throws {
        var item = KeychainItem(["service": "mail", "username": "anna"], label: "")
        try item.set(.account, to: .text("berta"))
        #expect(item.attributes == ["service": "mail", "username": "berta"])
    }

    @Test(
        arguments: [
            (ItemClass.genericPassword, KeychainAttribute.server, KeychainValue.text("x")),
            (.internetPassword, .service, .text("x")), (.key, .account, .text("x")),
            (.certificate, .comment, .text("x")),
            (.genericPassword, .account, .number(1)), (.genericPassword, .accessGroup, .text("a\0b")),
            (.genericPassword, .accessGroup, .data([1])), (.certificate, .issuer, .text("x")),
            (.genericPassword, .generic, .number(1)), (.genericPassword, .creator, .number(-1)),
            (.genericPassword, .creator, .number(1 << 32)), (.genericPassword, .isInvisible, .number(1)),
            (.internetPassword, .port, .number(65536)), (.internetPassword, .protocol, .text("https")),
            (.internetPassword, .authenticationType, .text("basic")), (.key, .keySize, .number(.min)),
        ]
    )
    func set_invalidValue_isRefused(itemClass: ItemClass, attribute: KeychainAttribute, value: KeychainValue) {
        var item = KeychainItem(itemClass)
        let before = item
        #expect(throws: AccessControlError(.invalidValue, reason: "")) { try item.set(attribute, to: value) }
        #expect(item == before)
    }

    @Test(
        "Each value keeps its type, and other programs see text where it is text",
        arguments: [
            (KeychainAttribute.account, KeychainValue.text("anna"), "anna", nil),
            (.account, .data(Array("anna".utf8)), "anna", "account"), (.service, .data([]), "", "service"),
            (.account, .text("a\0b"), "data:application/octet-stream,%61%00%62", nil),
            (.account, .data([0x61, 0]), "data:application/octet-stream,%61%00", "account"),
            (.comment, .data([0xff]), "data:application/octet-stream,%ff", "comment"),
            (.account, .text("data:application/octet-stream,%61"), "data:application/octet-stream,%61", nil),
            (.generic, .data([0x78]), "78", nil), (.generic, .text("x"), "78", "generic"),
        ] as [(KeychainAttribute, KeychainValue, String, String?)]
    )
    func values_textOrData_keepTheirType(
        attribute: KeychainAttribute,
        value: KeychainValue,
        stored: String,
        otherTypes: String?
    ) throws {
        let item = try item(.genericPassword, [attribute: value])
        let name = ["account": "account", "service": "service"][attribute.rawValue] ?? "keychain:\(attribute.rawValue)"
        #expect(item.attributes[name] == stored)
        #expect(item.attributes["keychain:other-types"] == otherTypes)
        #expect(KeychainItem(item.attributes, label: item.storedLabel)[attribute] == value)
    }

    @Test
    func label_asData_keepsItsType() {
        var item = KeychainItem(.genericPassword)
        (item.label, item.isLabelData) = ("Mail", true)
        #expect(item.attributes["keychain:other-types"] == "label")
        #expect(KeychainItem(item.attributes, label: "Mail").isLabelData)
    }

    @Test(
        "Names of types that another program wrote or made wrong are kept, without effect",
        arguments: ["service", "account,service", "nonsense", "", ",", "account,account", "label", "port"]
    )
    func otherTypes_thatDoNotFit_areKept(names: String) {
        let attributes: Attributes = [
            "keychain:class": "genericPassword", "keychain:other-types": names, "account": "a",
        ]
        var item = KeychainItem(attributes, label: "x")
        if names != "label" { #expect(item.others["keychain:other-types"] == names) }
        #expect(item[.account] == .text("a"))
        #expect(item.attributes == attributes)
        item.label = "y"
        #expect(item.attributes == attributes)
    }

    @Test
    func effective_missingValue_isApples() throws {
        let password = KeychainItem(.genericPassword)
        #expect(password.effective(.accessible) == .text("whenUnlocked") && password[.accessible] == nil)
        #expect(try item(.genericPassword, [.accessible: .text("whenUnlocked")]).matches(password))
        #expect(try !item(.genericPassword, [.accessible: .text("afterFirstUnlock")]).matches(password))
        let key = try item(.key, [.keyClass: .text(KeyClass.private.code), .canDecrypt: .boolean(false)])
        let abilities: [KeychainAttribute: Bool] = [
            .canEncrypt: false, .canDecrypt: false, .canDerive: true, .canSign: true, .canVerify: false,
            .canWrap: false,
            .canUnwrap: true,
        ]
        for (attribute, isAble) in abilities {
            #expect(key.effective(attribute) == .boolean(isAble), "\(attribute)")
            #expect(try item(.key, [attribute: .boolean(isAble)]).matches(key))
            #expect(try !item(.key, [attribute: .boolean(!isAble)]).matches(key))
        }
        #expect(KeychainItem(.key).effective(.canSign) == nil)
    }

    @Test
    func searches_account_useBothNames() throws {
        let query = try item(.genericPassword, [.service: .text("mail"), .account: .text("anna")])
        #expect(query.searches == [["service": "mail", "account": "anna"], ["service": "mail", "username": "anna"]])
        #expect(query.matches(KeychainItem(["service": "mail", "username": "anna"], label: "")))
        #expect(!query.matches(KeychainItem(["service": "mail", "username": "Anna"], label: "")))
        #expect(KeychainItem(.genericPassword).searches == [[:]])
    }

    @Test
    func matches_otherBytes_isFalse() throws {
        let query = try item(.genericPassword, [.account: .text("\u{e9}")])
        #expect(!query.matches(KeychainItem(["account": "e\u{301}"], label: "")))
    }

    @Test
    func matches_absentBoolean_isFalse() throws {
        let plain = try item(.genericPassword, [.service: .text("mail")])
        var query = plain
        try query.set(.synchronizable, to: .boolean(false))
        #expect(query.matches(plain))
        try query.set(.synchronizable, to: .boolean(true))
        #expect(!query.matches(plain))
    }

    @Test
    func matches_absentValue_isEmptyOrZero() throws {
        let plain = try item(.internetPassword, [.server: .text("example.com")])
        let empty: [KeychainAttribute: KeychainValue] = [.account: .text(""), .port: .number(0)]
        #expect(try item(.internetPassword, empty).matches(plain))
        #expect(try !item(.internetPassword, [.port: .number(80)]).matches(plain))
        #expect(try !item(.internetPassword, [.account: .text("anna")]).matches(plain))
        #expect(try !plain.matches(item(.internetPassword, [.account: .text("anna")])))
        #expect(!KeychainItem(.key).matches(KeychainItem(.certificate)))
    }

    @Test
    func matches_ignoringCase_foldsOnlyCase() throws {
        let query = try item(.genericPassword, [.account: .text("ANDR\u{c9}")])
        #expect(query.matches(KeychainItem(["account": "andr\u{e9}"], label: ""), ignoringCase: true))
        #expect(!query.matches(KeychainItem(["account": "andr\u{e9}"], label: "")))
        #expect(!query.matches(KeychainItem(["account": "andre\u{301}"], label: ""), ignoringCase: true))
    }

    @Test
    func primaryKey_class_hasItsAttributes() throws {
        for itemClass in ItemClass.allCases {
            for attribute in itemClass.primaryKey {
                var item = KeychainItem(itemClass)
                // Removing an absent attribute is allowed for every attribute of the class.
                try item.set(attribute, to: nil)
            }
        }
    }

    @Test
    func codes_matchApple_andNamesAreUnique() {
        #expect(ItemClass.allCases.map(\.code) == ["genp", "inet", "cert", "keys"])
        #expect(InternetProtocol.allCases.count == 31)
        #expect(Set(InternetProtocol.allCases.map(\.code)).count == 31)
        #expect(
            InternetProtocol.allCases.allSatisfy { $0.code.utf8.count == 4 && InternetProtocol(code: $0.code) == $0 }
        )
        #expect(AuthenticationScheme.allCases.count == 8)
        #expect(AuthenticationScheme.allCases.allSatisfy { AuthenticationScheme(code: $0.code) == $0 })
        #expect(KeyClass.allCases.allSatisfy { KeyClass(code: $0.code) == $0 })
        #expect(KeyType.allCases.allSatisfy { KeyType(code: $0.code) == $0 })
        #expect(Set(KeyType.allCases.map(\.code)).count == 9)
        #expect(KeyType(code: "rsa") == nil)
        #expect(InternetProtocol(code: "https") == nil)
        #expect(AuthenticationScheme(code: "basic") == nil)
    }
}
