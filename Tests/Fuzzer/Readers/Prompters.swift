import Glibc
import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindModel

@testable import KeychaindFIDO

/// Answers of programs that ask a person, and of the helper that talks to security keys.
extension FuzzReader {
    static let prompters = [
        FuzzReader("assuan", readAssuan),
        FuzzReader("assuan-data") { bytes in
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = buffer.withUnsafeMutableBytes { PercentEncoding.decode(bytes, into: $0) }
            promise(count.map { $0 <= bytes.count && $0 <= 64 } ?? true, "escapes make a text shorter")
            let text = bytes.text
            let encoded = PercentEncoding.encode(text, limit: AssuanCommand.lineLimit)
            promise(encoded.count <= AssuanCommand.lineLimit, "a line has its limit")
            promise(!encoded.contains { $0 < 0x20 || $0 == 0x7F }, "a line is one line")
        },
        FuzzReader("gcr-exchange") { bytes in
            guard let message = GCRExchangeMessage(parsing: bytes), message.password != nil else { throw Refusal() }
            let exponent = try SecureBytes(copying: [UInt8](repeating: 3, count: 32), in: .locked)
            let exchange = GCRExchange(keyPair: try DiffieHellman(.modp1536, exponent: exponent))
            _ = try exchange.openPassword(in: message)
        },
        FuzzReader("base64") { bytes in
            guard let decoded = Base64.decode(bytes) else { throw Refusal() }
            promise(Base64.encode(decoded).utf8.elementsEqual(bytes), "Base64 has one spelling")
        },
        FuzzReader("security-key-request") { bytes in
            let copy = bytes.copied
            guard let request = HelperRequest(decoding: copy[...]) else { throw Refusal() }
            promise(HelperRequest(decoding: request.encoded[...]) == request, "a request stays the same")
        },
        FuzzReader("security-key-answer") { bytes in
            let copy = bytes.copied
            guard let answer = HelperAnswer(decoding: copy[...]) else { throw Refusal() }
            promise(HelperAnswer(decoding: answer.encoded[...]) == answer, "an answer stays the same")
        },
    ]

    /// All that a pinentry writes, as it comes through a pipe: lines of any length, and the end anywhere.
    private static let readAssuan: @Sendable (UnsafeRawBufferPointer) throws -> Void = { bytes in
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        defer { close(ends[0]) }
        _ = write(ends[1], bytes.baseAddress, min(bytes.count, 32 << 10))
        close(ends[1])
        var input = try AssuanInput()
        while true {
            switch input.fill(from: ends[0]) {
            case .more:
                while let line = input.takeLine({ (line: $0.copied, parsed: AssuanLine($0)) }) {
                    guard case .data? = line.parsed else { continue }
                    var buffer = [UInt8](repeating: 0, count: AssuanCommand.lineLimit)
                    _ = line.line.withUnsafeBytes { line in
                        buffer.withUnsafeMutableBytes { buffer in
                            PercentEncoding.decode(
                                UnsafeRawBufferPointer(rebasing: line.dropFirst(AssuanLine.dataOffset)),
                                into: buffer
                            )
                        }
                    }
                }
            case .nothing, .end, .overflow: return
            }
        }
    }
}
