import Gcrypt
import Testing

@Suite(.lockedPool) struct HKDFSHA256Tests {
    @Test(arguments: Vector.cases(of: "rfc5869-hkdf-sha256") + Vector.cases(of: "generated-hkdf-sha256"))
    func derive_vector_isAsExpected(vector: Vector) throws {
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

    @Test func vectors_areThere() {
        #expect(Vector.cases(of: "rfc5869-hkdf-sha256").count == 3)
        #expect(Vector.cases(of: "generated-hkdf-sha256").count == 8)
    }

    @Test func derive_emptySalt_isThatOf32Zeros() throws {
        let key = try SecureBytes.random(count: 32, in: .locked)
        let zeros = [UInt8](repeating: 0, count: 32)
        let first = try HKDFSHA256.derive(from: key, info: [1], count: 32, in: .locked)
        let second = try HKDFSHA256.derive(from: key, salt: zeros, info: [1], count: 32, in: .locked)
        #expect(first.array() == second.array())
    }

    @Test func derive_otherInfo_isOther() throws {
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
