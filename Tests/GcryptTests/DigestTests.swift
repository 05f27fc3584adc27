import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct HMACSHA256Tests {
    @Test(arguments: Vector.cases(of: "rfc4231-hmac-sha256"))
    func authenticate_RFC4231Vector_matches(vector: Vector) throws {
        let hmac = try HMACSHA256(key: SecureBytes(copying: vector.bytes("key"), in: .locked))
        let message = try vector.bytes("message")
        let expected = try vector.bytes("code")
        #expect(try message.withUnsafeBytes { try hmac.authenticate($0) } == expected)
        var buffer = [UInt8](repeating: 0xee, count: HMACSHA256.size + 1)
        try message.withUnsafeBytes { message in
            try buffer.withUnsafeMutableBytes { try hmac.authenticate(message, into: $0) }
        }
        #expect(buffer == expected + [0xee])
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "rfc4231-hmac-sha256").count == 6)
    }

    @Test func authenticate_parts_equalsWhole() throws {
        let hmac = try HMACSHA256(key: SecureBytes.random(count: 32, in: .locked))
        let message = try RandomBytes.nonce(200)
        try message.withUnsafeBytes { message in
            let whole = try hmac.authenticate(message)
            for cut in 0...message.count {
                let parts = (
                    UnsafeRawBufferPointer(rebasing: message[..<cut]), UnsafeRawBufferPointer(rebasing: message[cut...])
                )
                #expect(try hmac.authenticate(parts.0, parts.1) == whole)
            }
            #expect(try hmac.authenticate(nothing, message, nothing) == whole)
        }
    }

    @Test func authenticate_empty_isEqualInEveryForm() throws {
        let hmac = try HMACSHA256(key: SecureBytes(count: 32, in: .locked))
        #expect(try hmac.authenticate() == hmac.authenticate(nothing))
    }

    @Test func authenticate_again_isEqual() throws {
        let hmac = try HMACSHA256(key: SecureBytes.random(count: 32, in: .locked))
        let (first, second) = (Array("one".utf8), Array("two".utf8))
        let ofFirst = try first.withUnsafeBytes { try hmac.authenticate($0) }
        let ofSecond = try second.withUnsafeBytes { try hmac.authenticate($0) }
        #expect(ofFirst != ofSecond)
        #expect(try first.withUnsafeBytes { try hmac.authenticate($0) } == ofFirst)
    }

    @Test func authenticate_otherKey_differs() throws {
        let message = Array("message".utf8)
        let codes = try (0..<2).map { _ in
            let hmac = try HMACSHA256(key: SecureBytes.random(count: 32, in: .locked))
            return try message.withUnsafeBytes { try hmac.authenticate($0) }
        }
        #expect(codes[0] != codes[1])
    }

    @Test func tag_message_isFirstEightBytes() throws {
        let hmac = try HMACSHA256(key: SecureBytes.random(count: 32, in: .locked))
        for count in 0..<130 {
            let message = try RandomBytes.nonce(count)
            try message.withUnsafeBytes { message in
                let expected = try hmac.authenticate(message).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                #expect(try hmac.tag(message) == expected)
            }
        }
    }

    @Test(arguments: [0, 31])
    func authenticateInto_smallerBuffer_throwsAndWritesNothing(count: Int) throws {
        let hmac = try HMACSHA256(key: SecureBytes.random(count: 32, in: .locked))
        var buffer = [UInt8](repeating: 0xee, count: count)
        let failure = code {
            try buffer.withUnsafeMutableBytes { try hmac.authenticate(nothing, into: $0) }
        }
        #expect(failure == .invalidParameters)
        #expect(buffer == [UInt8](repeating: 0xee, count: count))
    }
}

@Suite(.lockedPool) struct AuthenticationCodeTests {
    @Test(arguments: Vector.cases(of: "rfc4231-hmac-others"))
    func authenticationCode_RFCVector_matches(vector: Vector) throws {
        let function = try #require(HashFunction(rawValue: vector.text("function")))
        let code = try function.authenticationCode(
            of: vector.bytes("message"),
            key: SecureBytes(copying: vector.bytes("key"))
        )
        #expect(try code == vector.bytes("code"))
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "rfc4231-hmac-others").count == 8)
    }
}

@Suite(.lockedPool) struct HKDFSHA256Tests {
    @Test(arguments: Vector.cases(of: "rfc5869-hkdf-sha256") + Vector.cases(of: "generated-hkdf-sha256"))
    func derive_vector_matches(vector: Vector) throws {
        for memory in [SecureBytes.Memory.ordinary, .locked] {
            let derived = try HKDFSHA256.derive(
                from: SecureBytes(copying: vector.bytes("key"), in: .locked),
                salt: vector.bytes("salt"),
                info: vector.bytes("info"),
                count: vector.integer("count"),
                in: memory
            )
            #expect(derived.array() == (try vector.bytes("derived")))
        }
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "rfc5869-hkdf-sha256").count == 3)
        #expect(Vector.cases(of: "generated-hkdf-sha256").count == 8)
    }

    @Test func derive_emptySalt_equals32Zeros() throws {
        let key = try SecureBytes.random(count: 32, in: .locked)
        let zeros = [UInt8](repeating: 0, count: 32)
        let first = try HKDFSHA256.derive(from: key, info: [1], count: 32, in: .locked)
        let second = try HKDFSHA256.derive(from: key, salt: zeros, info: [1], count: 32, in: .locked)
        #expect(first.array() == second.array())
    }

    @Test func derive_otherInfo_differs() throws {
        let key = try SecureBytes.random(count: 32, in: .locked)
        let first = try HKDFSHA256.derive(from: key, info: Array("metadata".utf8), count: 32, in: .locked)
        let second = try HKDFSHA256.derive(from: key, info: Array("secrets".utf8), count: 32, in: .locked)
        #expect(first.array() != second.array())
    }

    @Test(arguments: [Int.min, -1, 0, HKDFSHA256.maximumCount + 1, Int.max])
    func derive_countOutOfBounds_throws(count: Int) {
        let failure = code {
            _ = try HKDFSHA256.derive(from: SecureBytes(count: 32), info: [], count: count, in: .ordinary)
        }
        #expect(failure == .invalidParameters)
    }
}
