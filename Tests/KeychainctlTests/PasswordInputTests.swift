import Foundation
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@Suite("Passwords on descriptors")
struct PasswordInputTests {
    @Test("A non-blocking descriptor is waited for")
    func nonBlocking_waits() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        let (input, output) = (ends[0], ends[1])
        defer { close(input) }
        #expect(write(output, "pass", 4) == 4)
        async let password = Self.read(input)
        do {
            // The reader goes on to the empty pipe.
            try await eventually("the first part is read") {
                var event = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
                return poll(&event, 1, 0) == 0
            }
        } catch {
            close(output)
            throw error
        }
        #expect(write(output, "word\n", 5) == 5)
        close(output)
        #expect(try await password == Array("password".utf8))
    }

    /// Reads on a thread of its own, as it blocks.
    private static func read(_ descriptor: Int32) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do throws(CommandFailure) {
                    let password = try PasswordInput.read(from: descriptor)
                    continuation.resume(returning: password.withUnsafeBytes { Array($0) })
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
