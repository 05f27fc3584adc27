import Foundation
import KeychaindModel
import Testing

struct Base64Tests {
    /// RFC 4648, section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors)
    func encode_vector_isAsInStandard(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == text)
    }

    @Test(arguments: vectors)
    func decode_vector_isAsInStandard(bytes: String, text: String) {
        #expect(Base64.decode(text.utf8) == Array(bytes.utf8))
    }

    @Test
    func encode_everyByteAtEveryPlace_isWhatFoundationDecodes() throws {
        for byte in UInt8.min...UInt8.max {
            for count in 1...4 {
                let bytes = [UInt8](repeating: byte, count: count)
                #expect(Data(base64Encoded: Base64.encode(bytes)) == Data(bytes))
                #expect(Base64.decode(Data(bytes).base64EncodedString().utf8) == bytes)
            }
        }
    }

    @Test(
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "=Zg=", "Zg=A", "Zm9v=", "Zm9vZg", "Zm 9", "Zm9\n", "Zm9-",
            "Zm9_",
            "Zh==", "Zm9=", "Zm9\u{0}", "Zm9é",
        ]
    )
    func decode_otherText_isRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
