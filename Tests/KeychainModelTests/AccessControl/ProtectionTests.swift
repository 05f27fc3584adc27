import KeychaindModel
import Testing

struct ProtectionTests {
    private func failure(_ attributes: Attributes) -> AccessControlError? {
        do throws(AccessControlError) {
            _ = try Protection(of: attributes)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [[:], ["service": "bank"], ["keychain:unknown": "userPresence"], ["keychain": "x"]] as [Attributes]
    )
    func init_noReservedAttributes_isNil(attributes: Attributes) throws {
        #expect(try Protection(of: attributes) == nil)
    }

    @Test
    func init_allAttributes_areRead() throws {
        let protection = try Protection(of: [
            "service": "bank", "keychain:access-control": "biometryAny or devicePasscode",
            "keychain:accessible": "whenPasscodeSetThisDeviceOnly", "keychain:synchronizable": "false",
            "keychain:access-group": "com.example.bank", "keychain:future": "?",
        ])
        #expect(protection?.accessControl?.description == "biometryAny or devicePasscode")
        #expect(protection?.policy?.alternatives == [.biometryAny, .passcode])
        #expect(protection?.accessibility == .whenPasscodeSetThisDeviceOnly)
        #expect(protection?.isSynchronizable == false)
        #expect(protection?.accessGroup == "com.example.bank")
    }

    @Test
    func init_oneAttribute_leavesOthersNil() throws {
        let synchronizable = try Protection(of: ["keychain:synchronizable": "true"])
        #expect(synchronizable?.isSynchronizable == true)
        #expect(synchronizable?.accessControl == nil)
        #expect(synchronizable?.accessibility == nil)
        #expect(synchronizable?.accessGroup == nil)
        #expect(synchronizable?.policy == nil)
    }

    @Test(
        arguments: [
            (["keychain:access-control": ""], .syntax), (["keychain:access-control": "root"], .unknownConstraint),
            (["keychain:accessible": ""], .invalidValue), (["keychain:accessible": "WhenUnlocked"], .invalidValue),
            (["keychain:accessible": "kSecAttrAccessibleAlways"], .invalidValue),
            (["keychain:synchronizable": "1"], .invalidValue), (["keychain:synchronizable": ""], .invalidValue),
            (["keychain:access-group": ""], .invalidValue),
            (["keychain:access-group": String(repeating: "a", count: 256)], .invalidValue),
            (["keychain:synchronizable": "true", "keychain:access-control": "biometryCurrentSet"], .contradiction),
            (
                ["keychain:synchronizable": "true", "keychain:access-control": "biometryCurrentSet or devicePasscode"],
                .contradiction
            ),
            (["keychain:access-control": "biometryAny or applicationPassword"], .contradiction),
            (["keychain:access-control": "userPresence or applicationPassword"], .contradiction),
        ] as [([String: String], AccessControlError.Code)]
    )
    func init_badValue_isRefused(values: [String: String], code: AccessControlError.Code) {
        #expect(failure(Attributes(values.map { ($0, $1) }))?.code == code)
    }

    @Test(arguments: Accessibility.allCases)
    func init_synchronizable_excludesThisDeviceOnly(accessibility: Accessibility) {
        let attributes: Attributes = [
            "keychain:synchronizable": "true", "keychain:accessible": accessibility.rawValue,
        ]
        let isThisDeviceOnly = accessibility.rawValue.hasSuffix("ThisDeviceOnly")
        #expect(failure(attributes)?.code == (isThisDeviceOnly ? .contradiction : nil))
    }

    @Test
    func init_longestGroup_isAccepted() {
        #expect(failure(["keychain:access-group": String(repeating: "a", count: 255)]) == nil)
    }

    @Test
    func reserved_names_matchDocumentation() {
        for attribute in ReservedAttribute.allCases {
            #expect(attribute.rawValue.hasPrefix(Attributes.reservedPrefix))
            #expect(Attributes([(attribute.rawValue, "x")])[attribute] == "x")
            #expect(Attributes([(attribute.rawValue, "x")]).hasReserved)
        }
        #expect(!(["keychai": "n", "zone": "1"] as Attributes).hasReserved)
    }

    @Test(
        arguments: [
            (.whenUnlocked, true, false, false), (.afterFirstUnlock, false, false, false),
            (.always, false, false, false),
            (.whenPasscodeSetThisDeviceOnly, true, true, true), (.whenUnlockedThisDeviceOnly, true, false, true),
            (.afterFirstUnlockThisDeviceOnly, false, false, true), (.alwaysThisDeviceOnly, false, false, true),
        ] as [(Accessibility, Bool, Bool, Bool)]
    )
    func accessibility_level_hasItsRequirements(level: Accessibility, session: Bool, passcode: Bool, device: Bool) {
        #expect(level.needsUnlockedSession == session)
        #expect(level.needsPasscode == passcode)
        #expect(level.isThisDeviceOnly == device)
    }
}
