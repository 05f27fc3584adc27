import KeychainModel
import Testing

struct AccessControlTests {
    private func failure(_ text: String) -> AccessControlError? {
        do throws(AccessControlError) {
            _ = try AccessControl(parsing: text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("userPresence", [.biometryAny, .passcode]),
            ("biometryAny", [.biometryAny]),
            ("biometryCurrentSet", [.biometryCurrentSet]),
            ("devicePasscode", [.passcode]),
            ("applicationPassword", [.applicationPassword]),
            ("biometryAny or devicePasscode", [.biometryAny, .passcode]),
            ("biometryCurrentSet or biometryAny", [.biometryAny]),
            ("biometryCurrentSet and biometryAny", [.biometryCurrentSet]),
            ("userPresence and devicePasscode", [.passcode]),
            ("userPresence or devicePasscode", [.biometryAny, .passcode]),
            ("biometryAny and devicePasscode", [[.biometryAny, .passcode]]),
            (
                "biometryCurrentSet or devicePasscode and applicationPassword",
                [.biometryCurrentSet, [.passcode, .applicationPassword]]
            ),
            (
                "(biometryCurrentSet or devicePasscode) and applicationPassword",
                [[.biometryCurrentSet, .applicationPassword], [.passcode, .applicationPassword]]
            ),
        ] as [(String, [FactorSet])]
    )
    func parsing_expression_hasItsAlternatives(text: String, alternatives: [FactorSet]) throws {
        #expect(Set(try AccessControl(parsing: text).policy.alternatives) == Set(alternatives))
    }

    @Test(
        arguments: [
            ("  userPresence\t", "userPresence"),
            ("((userPresence))", "userPresence"),
            ("(biometryAny)and(devicePasscode)", "biometryAny and devicePasscode"),
            (
                "biometryAny and (devicePasscode and applicationPassword)",
                "biometryAny and devicePasscode and applicationPassword"
            ),
            (
                "biometryAny or (devicePasscode and applicationPassword)",
                "biometryAny or devicePasscode and applicationPassword"
            ),
            (
                "(biometryAny or devicePasscode) and applicationPassword",
                "(biometryAny or devicePasscode) and applicationPassword"
            ),
            ("devicePasscode or devicePasscode", "devicePasscode"),
            ("devicePasscode and (devicePasscode or devicePasscode)", "devicePasscode"),
            ("biometryAny or devicePasscode or biometryAny", "biometryAny or devicePasscode"),
        ]
    )
    func description_text_isCanonical(text: String, canonical: String) throws {
        #expect(try AccessControl(parsing: text).description == canonical)
        #expect(try AccessControl(parsing: text) == AccessControl(parsing: canonical))
    }

    @Test
    func equality_sameRequirementInOtherWords_samePolicyOnly() throws {
        let short = try AccessControl(parsing: "userPresence")
        let long = try AccessControl(parsing: "biometryAny or devicePasscode")
        #expect(short != long)
        #expect(short.policy == long.policy)
        #expect(AccessControl(.userPresence) == short)
    }

    @Test(
        arguments: [
            ("", .syntax, "empty"),
            (" \t ", .syntax, "empty"),
            ("()", .syntax, "“)” at byte 2, where a constraint or “(” has to come"),
            ("(userPresence", .syntax, "ends where “and”, “or” or “)” has to come"),
            ("userPresence)", .syntax, "“)” at byte 13, where “and”, “or” or the end has to come"),
            ("userPresence devicePasscode", .syntax, "“devicePasscode” at byte 14"),
            ("userPresence and", .syntax, "ends where a constraint"),
            ("or userPresence", .syntax, "“or” at byte 1"),
            ("userPresence and or devicePasscode", .syntax, "“or” at byte 18"),
            ("userPresence, devicePasscode", .syntax, "at byte 13 there is something"),
            ("userPresence\nor devicePasscode", .syntax, "at byte 13 there is something"),
            ("userPresence & devicePasscode", .syntax, "at byte 14"),
            ("\u{e9}", .syntax, "at byte 1"),
            ("userPrescence", .unknownConstraint, "“userPrescence” at byte 1 is none of userPresence, biometryAny"),
            ("userpresence", .unknownConstraint, "is to be written “userPresence”"),
            ("userPresence OR devicePasscode", .unknownConstraint, "“OR” at byte 14 is to be written “or”"),
            ("devicePasscode and companion", .unknownConstraint, "“companion” at byte 20"),
        ] as [(String, AccessControlError.Code, String)]
    )
    func parsing_mistake_isNamedWithItsPlace(text: String, code: AccessControlError.Code, words: String) {
        let failure = failure(text)
        #expect(failure?.code == code)
        #expect(failure?.reason.contains(words) == true, "\(failure?.reason ?? "no error")")
    }

    @Test
    func parsing_longestText_isRead_oneMoreIsNot() throws {
        let constraint = "devicePasscode"
        let longest = constraint + String(repeating: " ", count: AccessControl.maximumLength - constraint.utf8.count)
        #expect(try AccessControl(parsing: longest) == AccessControl(.devicePasscode))
        #expect(failure(longest + " ")?.code == .tooLong)
        #expect(failure(String(repeating: "(", count: 1 << 20))?.code == .tooLong)
    }

    @Test
    func parsing_deepestParentheses_areRead_oneMoreIsNot() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "biometryAny" + String(repeating: ")", count: depth)
        }
        #expect(try AccessControl(parsing: nested(AccessControl.maximumDepth)) == AccessControl(.biometryAny))
        #expect(failure(nested(AccessControl.maximumDepth + 1))?.code == .tooDeep)
        // Depth is what is open at a time, not what was opened.
        #expect(failure(Array(repeating: "(biometryAny)", count: 14).joined(separator: "or")) == nil)
    }

    @Test
    func reason_hostileText_repeatsNothingButLetters() {
        let reason = failure("userPresence \u{1B}[31m\u{202E}")?.reason ?? ""
        #expect(!reason.isEmpty)
        #expect(!reason.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    }

    @Test(
        arguments: [
            ("userPresence", nil), ("biometryAny", nil), ("biometryAny or devicePasscode", nil),
            ("devicePasscode", [.passcode]),
            ("applicationPassword", [.applicationPassword]),
            ("biometryAny and devicePasscode", [.passcode]),
            ("devicePasscode or applicationPassword", [.passcode, .applicationPassword]),
            ("devicePasscode and applicationPassword", [[.passcode, .applicationPassword]]),
            ("userPresence and applicationPassword", [.applicationPassword]),
            ("biometryAny and (devicePasscode or applicationPassword)", [.passcode, .applicationPassword]),
        ] as [(String, [FactorSet]?)]
    )
    func keyAlternatives_policy_areWhatKeysCanEnforce(text: String, keys: [FactorSet]?) throws {
        #expect(try AccessControl(parsing: text).policy.keyAlternatives == keys)
    }

    @Test
    func error_description_isCodeAndReason() {
        #expect(AccessControlError(.syntax, reason: "a").description == "syntax: a")
    }
}
