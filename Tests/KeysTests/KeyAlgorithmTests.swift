import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import Testing

struct KeyAlgorithmTests {
    @Test
    func rawValue_ofEach_isItsName() {
        for algorithm in KeyAlgorithm.allCases {
            #expect(KeyAlgorithm(rawValue: algorithm.rawValue) == algorithm)
        }
        #expect(Set(KeyAlgorithm.allCases.map(\.rawValue)).count == KeyAlgorithm.allCases.count)
    }

    @Test(arguments: ["", "algid", "algid:sign:RSA", "algid:sign:RSA:RAW", "algid:sign:ECDSA:message-X962:MD5"])
    func init_unknownName_isNil(name: String) {
        #expect(KeyAlgorithm(rawValue: name) == nil)
    }
}
