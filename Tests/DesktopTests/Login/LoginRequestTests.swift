import KeychaindDesktop
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite(.lockedPool) struct LoginRequestTests {
    private enum Parsed: Equatable {
        case unlock([UInt8])
        case change([UInt8], [UInt8])
        case flawed(LoginRequest.Flaw)
    }

    private func parse(_ bytes: [UInt8]) -> Parsed {
        bytes.withUnsafeBytes { bytes in
            do throws(LoginRequest.Flaw) {
                switch try LoginRequest(parsing: bytes) {
                case .unlock(let password): return .unlock(Self.bytes(of: password))
                case .change(let old, let new): return .change(Self.bytes(of: old), Self.bytes(of: new))
                }
            } catch {
                return .flawed(error)
            }
        }
    }

    private static func bytes(of password: borrowing SecureBytes) -> [UInt8] {
        password.withUnsafeBytes { Array($0) }
    }

    private let longest = [UInt8](repeating: 0x80, count: LoginRequest.passwordLimit)

    @Test func parse_unlock_givesThePassword() {
        #expect(LoginFrame.unlock("pässword").bytes.count == 2064)
        #expect(parse(LoginFrame.unlock("pässword").bytes) == .unlock(Array("pässword".utf8)))
        #expect(parse(LoginFrame(password: longest).bytes) == .unlock(longest))
    }

    @Test func parse_change_givesBothPasswords() {
        #expect(parse(LoginFrame.change("old", to: "newer").bytes) == .change(Array("old".utf8), Array("newer".utf8)))
        let frame = LoginFrame(operation: [0, 0, 0, 2], password: longest, newPassword: longest)
        #expect(parse(frame.bytes) == .change(longest, longest))
    }

    @Test func parse_anotherSize_isRefused() {
        let bytes = LoginFrame.unlock("password").bytes
        #expect(parse([]) == .flawed(.size))
        #expect(parse(Array(bytes.dropLast())) == .flawed(.size))
        #expect(parse(bytes + [0]) == .flawed(.size))
    }

    @Test func parse_anotherMagicOrVersion_isRefused() {
        for index in 0..<8 {
            var bytes = LoginFrame.unlock("password").bytes
            bytes[index] &+= 1
            #expect(parse(bytes) == .flawed(.magic))
        }
    }

    @Test(arguments: [[0, 0, 0, 0], [0, 0, 0, 3], [1, 0, 0, 1], [255, 255, 255, 255]] as [[UInt8]])
    func parse_unknownOperation_isRefused(operation: [UInt8]) {
        let newPassword: [UInt8] = operation == [0, 0, 0, 3] ? [1] : []
        let frame = LoginFrame(operation: operation, password: [1], newPassword: newPassword)
        #expect(parse(frame.bytes) == .flawed(.operation))
    }

    @Test func parse_lengthThatCannotBe_isRefused() {
        #expect(parse(LoginFrame(password: []).bytes) == .flawed(.length))
        #expect(parse(LoginFrame(password: [1], lengths: [4, 1, 0, 0]).bytes) == .flawed(.length))
        #expect(parse(LoginFrame(password: [1], lengths: [255, 255, 255, 255]).bytes) == .flawed(.length))
        #expect(parse(LoginFrame(password: [1], newPassword: [1]).bytes) == .flawed(.length))
        #expect(parse(LoginFrame.change("old", to: "").bytes) == .flawed(.length))
        #expect(parse(LoginFrame.change("", to: "new").bytes) == .flawed(.length))
    }

    @Test func parse_somethingBehindAPassword_isRefused() {
        #expect(parse(LoginFrame(password: [1, 2, 3], lengths: [0, 2, 0, 0]).bytes) == .flawed(.padding))
        #expect(parse(LoginFrame(password: [1], newPassword: [1], lengths: [0, 1, 0, 0]).bytes) == .flawed(.padding))
    }

    @Test func parse_randomBytes_neverTraps() {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<2000 {
            var bytes = LoginFrame.change("old", to: "new").bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<32, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            switch parse(bytes) {
            case .unlock(let password): #expect(password.count <= 1024)
            case .change(let old, let new): #expect(old.count <= 1024 && new.count <= 1024)
            case .flawed: break
            }
        }
    }

    @Test func reply_isEncodedAsDocumented() {
        let magic = Array("KCHNPAM".utf8) + [1]
        #expect(LoginReply(.taken).encoded == magic + [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(LoginReply(.changed, collections: 258).encoded == magic + [0, 0, 0, 1, 0, 0, 1, 2])
        #expect(LoginReply(.refused).encoded == magic + [0, 0, 0, 4, 0, 0, 0, 0])
    }
}
