import Glibc

@testable import KeychaindDesktop

/// The socket of the PAM module: any program of the user can connect to it.
extension FuzzReader {
    static let logins = [
        FuzzReader("login") { bytes in _ = try LoginRequest(parsing: bytes) },
        FuzzReader("login-frame") { bytes in
            // A frame of the right size: the numbers, then both passwords with zeros behind them.
            var frame = [UInt8](repeating: 0, count: LoginRequest.frameSize)
            frame.replaceSubrange(0..<8, with: LoginRequest.magic)
            let numbers = bytes.prefix(8)
            frame.replaceSubrange(8..<8 + numbers.count, with: numbers)
            let passwords = bytes.dropFirst(8)
            let half = passwords.count / 2
            let first = passwords.prefix(min(half, LoginRequest.passwordLimit))
            let second = passwords.dropFirst(half).prefix(LoginRequest.passwordLimit)
            frame.replaceSubrange(16..<16 + first.count, with: first)
            frame.replaceSubrange(1040..<1040 + second.count, with: second)
            try frame.withUnsafeBytes { frame in _ = try LoginRequest(parsing: frame) }
        },
    ]
}
