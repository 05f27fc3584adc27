import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct Argon2idTests {
    private static let cheap = Argon2id(memoryKiB: 8, iterations: 1, lanes: 1)
    private static let salt = [UInt8](repeating: 2, count: 16)

    @Test(arguments: Vector.cases(of: "rfc9106-argon2id") + Vector.cases(of: "generated-argon2id"))
    func derive_vector_matches(vector: Vector) throws {
        let parameters = Argon2id(
            memoryKiB: try vector.integer("memory"),
            iterations: try vector.integer("iterations"),
            lanes: try vector.integer("lanes")
        )
        let derived = try parameters.derive(
            password: SecureBytes(copying: vector.bytes("password"), in: .locked),
            salt: vector.bytes("salt"),
            pepper: SecureBytes(copying: vector.bytes("pepper"), in: .locked),
            associatedData: vector.bytes("associated"),
            count: vector.integer("count")
        )
        #expect(derived.array() == (try vector.bytes("derived")))
    }

    @Test func vectors_areFound() {
        #expect(Vector.cases(of: "rfc9106-argon2id").count == 1)
        #expect(Vector.cases(of: "generated-argon2id").count == 12)
    }

    @Test func derive_noPepper_equalsEmptyPepper() throws {
        let password = try SecureBytes(copying: Array("password".utf8), in: .locked)
        let short = try Self.cheap.derive(password: password, salt: Self.salt, count: 32)
        let long = try Self.cheap.derive(
            password: password,
            salt: Self.salt,
            pepper: SecureBytes(count: 0),
            associatedData: [],
            count: 32
        )
        #expect(short.array() == long.array())
    }

    @Test func derive_otherPasswordOrSalt_differs() throws {
        let first = try Self.cheap.derive(password: SecureBytes(copying: [1]), salt: Self.salt, count: 32)
        let second = try Self.cheap.derive(password: SecureBytes(copying: [2]), salt: Self.salt, count: 32)
        let third = try Self.cheap.derive(password: SecureBytes(copying: [1]), salt: Self.salt + [2], count: 32)
        #expect(Set([first.array(), second.array(), third.array()]).count == 3)
    }

    @Test(arguments: [
        Argon2id(memoryKiB: 7, iterations: 1, lanes: 1),
        Argon2id(memoryKiB: 0, iterations: 1, lanes: 1),
        Argon2id(memoryKiB: -8, iterations: 1, lanes: 1),
        Argon2id(memoryKiB: 1024 * 1024 + 1, iterations: 1, lanes: 1),
        Argon2id(memoryKiB: .max, iterations: 1, lanes: 1),
        Argon2id(memoryKiB: .min, iterations: .min, lanes: .min),
        Argon2id(memoryKiB: 8, iterations: 0, lanes: 1),
        Argon2id(memoryKiB: 8, iterations: -1, lanes: 1),
        Argon2id(memoryKiB: 8, iterations: 65, lanes: 1),
        Argon2id(memoryKiB: 8, iterations: .max, lanes: 1),
        Argon2id(memoryKiB: 8, iterations: 1, lanes: 0),
        Argon2id(memoryKiB: 8, iterations: 1, lanes: -1),
        Argon2id(memoryKiB: 8, iterations: 1, lanes: .max),
        Argon2id(memoryKiB: 1024, iterations: 1, lanes: 17),
        Argon2id(memoryKiB: 15, iterations: 1, lanes: 2),
        Argon2id(memoryKiB: 1024 * 1024, iterations: 5, lanes: 1),
    ])
    func derive_parametersOutOfBounds_throws(parameters: Argon2id) {
        let failure = code {
            _ = try parameters.derive(password: SecureBytes(count: 1), salt: Self.salt, count: 32)
        }
        #expect(failure == .invalidParameters)
    }

    @Test func derive_emptyPassword_throws() {
        let failure = code { _ = try Self.cheap.derive(password: SecureBytes(count: 0), salt: Self.salt, count: 32) }
        #expect(failure == .invalidParameters)
    }

    @Test(arguments: [0, 7, 65])
    func derive_saltOutOfBounds_throws(count: Int) {
        let salt = [UInt8](repeating: 1, count: count)
        let failure = code { _ = try Self.cheap.derive(password: SecureBytes(count: 1), salt: salt, count: 32) }
        #expect(failure == .invalidParameters)
    }

    @Test(arguments: [Int.min, 0, 3, 65, Int.max])
    func derive_countOutOfBounds_throws(count: Int) {
        let failure = code { _ = try Self.cheap.derive(password: SecureBytes(count: 1), salt: Self.salt, count: count) }
        #expect(failure == .invalidParameters)
    }
}
