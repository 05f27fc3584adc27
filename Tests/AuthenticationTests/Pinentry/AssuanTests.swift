import Glibc
import KeychaindAuthentication
import KeychaindGcrypt
import Testing

/// Lines of the Assuan protocol in both directions.
@Suite(.lockedPool)
struct AssuanTests {
    // MARK: Escapes

    @Test(
        arguments: [
            ("", ""), ("plain", "plain"), ("50%", "50%25"), ("a\nb\r", "a%0Ab%0D"), ("\u{7F}\u{0}", "%7F%00"),
            ("ä", "ä"),
        ]
    )
    func encode_text_isEscaped(text: String, escaped: String) {
        #expect(String(decoding: PercentEncoding.encode(text, limit: 100), as: UTF8.self) == escaped)
    }

    @Test(
        arguments: [
            ("abc", 3, "abc"), ("abcd", 3, "…"), ("abcdef", 5, "ab…"), ("äää", 5, "ä…"), ("%%%", 8, "%25…"),
            ("ab", 1, ""),
            ("ab", 0, ""), ("", 0, ""),
        ]
    )
    func encode_tooLong_isCutAtACharacter(text: String, limit: Int, escaped: String) {
        let encoded = PercentEncoding.encode(text, limit: limit)
        #expect(String(decoding: encoded, as: UTF8.self) == escaped)
        #expect(encoded.count <= limit)
    }

    @Test
    func decode_everyByteEscaped_isTheByte() {
        for byte in UInt8.min...UInt8.max {
            let digits = String(byte, radix: 16)
            let escaped = "%" + (digits.count == 1 ? "0" : "") + digits
            #expect(decode(escaped) == [byte])
            #expect(decode(escaped.uppercased()) == [byte])
        }
    }

    @Test(arguments: ["%", "%4", "a%", "%4G", "%G4", "% 4", "%-1", "%%41"])
    func decode_brokenEscape_isNil(escaped: String) {
        #expect(decode(escaped) == nil)
    }

    @Test
    func decode_smallBuffer_isNilUnlessItFits() {
        #expect(decode("%41%42", capacity: 2) == [0x41, 0x42])
        #expect(decode("%41%42", capacity: 1) == nil)
        #expect(decode("ab", capacity: 0) == nil)
        #expect(decode("", capacity: 0) == [])
    }

    private func decode(_ text: String, capacity: Int = 100) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: capacity)
        let count = Array(text.utf8).withUnsafeBytes { bytes in
            buffer.withUnsafeMutableBytes { PercentEncoding.decode(bytes, into: $0) }
        }
        return count.map { Array(buffer[..<$0]) }
    }

    // MARK: Lines

    @Test(
        arguments: [
            ("OK", AssuanLine.success), ("OK Pleased to meet you", .success), ("D", nil), ("D ", .data),
            ("D x y", .data),
            ("ERR 83886179 cancelled <Pinentry>", .failure(code: 83_886_179)), ("ERR 4294967295", .failure(code: .max)),
            ("ERR 4294967296", nil), ("ERR", nil), ("ERR ", nil), ("ERR -1", nil), ("ERR x", nil),
            ("# remark", .comment),
            ("#", .comment), ("S PIN_REPEATED", .status("PIN_REPEATED")), ("S ERROR a 1", .status("ERROR")),
            ("S", .status("")), ("INQUIRE QUALITY x", .inquiry), ("", nil), (" OK", nil), ("OKAY", nil), ("ok", nil),
            ("INQUIRED", nil), ("D\tx", nil),
        ] as [(String, AssuanLine?)]
    )
    func init_line_isItsKind(text: String, line: AssuanLine?) {
        #expect(Array(text.utf8).withUnsafeBytes { AssuanLine($0) } == line)
    }

    @Test
    func command_argument_isOneBoundedLine() {
        #expect(AssuanCommand("GETPIN").bytes == Array("GETPIN\n".utf8))
        #expect(AssuanCommand("SETDESC", "a\n%").bytes == Array("SETDESC a%0A%25\n".utf8))
        let long = AssuanCommand("SETDESC", String(repeating: "\n", count: 5000)).bytes
        #expect(long.count <= AssuanCommand.lineLimit + 1)
        #expect(long.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    }

    // MARK: Input

    @Test
    func takeLine_partsOfLines_areJoinedAndEndsRemoved() throws {
        try withInput { input, feed in
            feed("OK on")
            #expect(input.fill(from: feed.readEnd) == .more)
            #expect(text(&input) == nil)
            feed("e\r\nD two\n\nrest")
            #expect(input.fill(from: feed.readEnd) == .more)
            #expect(text(&input) == "OK one")
            #expect(text(&input) == "D two")
            #expect(text(&input) == "")
            #expect(text(&input) == nil)
            #expect(input.fill(from: feed.readEnd) == .nothing)
        }
    }

    @Test
    func fill_longestLine_isTakenAndLongerOverflows() throws {
        try withInput { input, feed in
            let longest = String(repeating: "x", count: AssuanCommand.lineLimit)
            feed(longest + "\r\n")
            #expect(input.fill(from: feed.readEnd) == .more)
            #expect(text(&input) == longest)
            feed(longest + "xyz")
            #expect(input.fill(from: feed.readEnd) == .more)
            #expect(text(&input) == nil)
            #expect(input.fill(from: feed.readEnd) == .overflow)
        }
    }

    @Test
    func fill_closed_isEnd() throws {
        try withInput { input, feed in
            // A child of another test may have inherited a copy; shutdown(2) ends all copies.
            shutdown(feed.writeEnd, Int32(SHUT_RDWR))
            #expect(input.fill(from: feed.readEnd) == .end)
        }
        var input = try AssuanInput()
        #expect(input.fill(from: -1) == .end)
    }

    private struct Feed {
        let readEnd: Int32
        let writeEnd: Int32

        func callAsFunction(_ text: String) {
            #expect(write(writeEnd, text, text.utf8.count) == text.utf8.count)
        }
    }

    private func withInput(_ body: (inout AssuanInput, Feed) -> Void) throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        defer { ends.forEach { close($0) } }
        var input = try AssuanInput()
        body(&input, Feed(readEnd: ends[0], writeEnd: ends[1]))
    }

    private func text(_ input: inout AssuanInput) -> String? {
        input.takeLine { String(decoding: $0, as: UTF8.self) }
    }
}
