import KeychaindModel
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
    func parsing_expression_hasAlternatives(text: String, alternatives: [FactorSet]) throws {
        #expect(Set(try #require(AccessControl(parsing: text).policy).alternatives) == Set(alternatives))
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
            ("(privateKeyUsage) and privateKeyUsage", "privateKeyUsage"),
            (
                "privateKeyUsage and (biometryAny or (devicePasscode))",
                "privateKeyUsage and (biometryAny or devicePasscode)"
            ),
        ]
    )
    func description_text_isCanonical(text: String, canonical: String) throws {
        #expect(try AccessControl(parsing: text).description == canonical)
        #expect(try AccessControl(parsing: text) == AccessControl(parsing: canonical))
    }

    @Test
    func equality_equivalentTexts_onlyPoliciesAreEqual() throws {
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
            ("()", .syntax, "found “)” at byte 2 instead of a constraint or “(”"),
            ("(userPresence", .syntax, "ends where “and”, “or” or “)” is expected"),
            ("userPresence)", .syntax, "found “)” at byte 13 instead of “and”, “or” or the end"),
            ("userPresence devicePasscode", .syntax, "“devicePasscode” at byte 14"),
            ("userPresence and", .syntax, "ends where a constraint"),
            ("or userPresence", .syntax, "“or” at byte 1"),
            ("userPresence and or devicePasscode", .syntax, "“or” at byte 18"),
            ("userPresence, devicePasscode", .syntax, "unexpected character at byte 13"),
            ("userPresence\nor devicePasscode", .syntax, "unexpected character at byte 13"),
            ("userPresence & devicePasscode", .syntax, "at byte 14"),
            ("\u{e9}", .syntax, "at byte 1"),
            ("userPrescence", .unknownConstraint, "“userPrescence” at byte 1 is not one of userPresence, biometryAny"),
            ("userpresence", .unknownConstraint, "must be spelled “userPresence”"),
            ("userPresence OR devicePasscode", .unknownConstraint, "“OR” at byte 14 must be spelled “or”"),
            ("devicePasscode and companion", .unknownConstraint, "“companion” at byte 20"),
        ] as [(String, AccessControlError.Code, String)]
    )
    func parsing_mistake_isReportedWithPlace(text: String, code: AccessControlError.Code, words: String) {
        let failure = failure(text)
        #expect(failure?.code == code)
        #expect(failure?.reason.contains(words) == true, "\(failure?.reason ?? "no error")")
    }

    @Test
    func parsing_lengthLimit_isEnforced() throws {
        let constraint = "devicePasscode"
        let longest = constraint + String(repeating: " ", count: AccessControl.maximumLength - constraint.utf8.count)
        #expect(try AccessControl(parsing: longest) == AccessControl(.devicePasscode))
        #expect(failure(longest + " ")?.code == .tooLong)
        #expect(failure(String(repeating: "(", count: 1 << 20))?.code == .tooLong)
    }

    @Test
    func parsing_depthLimit_isEnforced() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "biometryAny" + String(repeating: ")", count: depth)
        }
        #expect(try AccessControl(parsing: nested(AccessControl.maximumDepth)) == AccessControl(.biometryAny))
        #expect(failure(nested(AccessControl.maximumDepth + 1))?.code == .tooDeep)
        // The depth counts open parentheses only.
        #expect(failure(Array(repeating: "(biometryAny)", count: 14).joined(separator: "or")) == nil)
    }

    @Test
    func reason_hostileText_quotesOnlyLetters() {
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
    func keyAlternatives_policy_areEnforceableByKeys(text: String, keys: [FactorSet]?) throws {
        #expect(try AccessControl(parsing: text).policy?.keyAlternatives == keys)
    }

    @Test("The use of a private key requires no proof and adds nothing to a policy")
    func privateKeyUsage_policy_isThatOfTheRest() throws {
        let usage = try AccessControl(parsing: "privateKeyUsage")
        #expect(usage.policy == nil && usage.isForPrivateKeyUsage)
        let both = try AccessControl(parsing: "userPresence and privateKeyUsage")
        #expect(both.policy == AccessControl(.userPresence).policy && both.isForPrivateKeyUsage)
        #expect(!AccessControl(.userPresence).isForPrivateKeyUsage)
    }

    @Test(
        "The use of a private key is no alternative to a proof",
        arguments: [
            "privateKeyUsage or userPresence", "userPresence and (devicePasscode or privateKeyUsage)",
            "biometryAny or (privateKeyUsage and devicePasscode)",
        ]
    )
    func privateKeyUsage_inAlternative_isContradiction(text: String) {
        #expect(failure(text)?.code == .contradiction)
    }

    @Test
    func error_description_isCodeAndReason() {
        #expect(AccessControlError(.syntax, reason: "a").description == "syntax: a")
    }
}

struct FactorSetTests {
    @Test
    func factors_anySet_areItsElements() {
        for proofs in RandomExpression.allProofs {
            #expect(Set(FactorSet(proofs).factors) == proofs)
        }
        #expect(FactorSet(rawValue: 0b1111_0000).factors.isEmpty)
    }

    @Test
    func implied_currentSet_addsAnyFinger() {
        #expect(FactorSet.biometryCurrentSet.implied == [.biometryAny, .biometryCurrentSet])
        #expect(FactorSet.biometryAny.implied == .biometryAny)
        #expect(
            ([.passcode, .biometryCurrentSet] as FactorSet).implied == [.passcode, .biometryAny, .biometryCurrentSet]
        )
    }

    @Test
    func reduced_bothFingers_keepsTheStrongerOne() {
        #expect(FactorSet.biometry.reduced == .biometryCurrentSet)
        #expect(FactorSet.biometryAny.reduced == .biometryAny)
        for proofs in RandomExpression.allProofs {
            #expect(FactorSet(proofs).reduced.implied == FactorSet(proofs).implied)
        }
    }
}
