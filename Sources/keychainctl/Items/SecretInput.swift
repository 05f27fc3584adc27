import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

/// Where a new secret comes from: a descriptor, standard input or the terminal, never an argument.
enum SecretInput {
    /// The largest secret that keychaind takes.
    private static let limit = 16 << 20

    /// Reads a secret byte for byte, or asks twice at the terminal.
    ///
    /// - Parameter descriptor: nil for standard input, or the terminal if that is one.
    static func read(
        from descriptor: Int32?,
        contentType: String?,
        _ interruption: Interruption
    ) throws(CommandFailure) -> Secret {
        let bytes = try bytes(from: descriptor, interruption)
        // Not in the autoclosure of an operator, which would capture the bytes.
        let type = isText(bytes) ? Secret.text : "application/octet-stream"
        return Secret(bytes, contentType: contentType ?? type)
    }

    private static func bytes(
        from descriptor: Int32?,
        _ interruption: Interruption
    ) throws(CommandFailure) -> SecureBytes {
        if let descriptor { return try readAll(descriptor, interruption) }
        if isatty(STDIN_FILENO) == 1 { return try asked(interruption) }
        return try readAll(STDIN_FILENO, interruption)
    }

    private static func asked(_ interruption: Interruption) throws(CommandFailure) -> SecureBytes {
        let first = try ask(Text("Secret: "), interruption)
        let second = try ask(Text("Repeat the secret: "), interruption)
        guard first.isEqual(to: second) else { throw CommandFailure(.wrongPassword, "the two secrets differ") }
        return first
    }

    private static func ask(_ question: Text, _ interruption: Interruption) throws(CommandFailure) -> SecureBytes {
        guard let secret = try PasswordInput.ask(question, interruption: interruption.descriptor) else {
            throw CommandFailure(.refused, "there is no terminal to ask for the secret; use --secret-fd")
        }
        return secret
    }

    /// Text that programs read as a password.
    static func isText(_ bytes: borrowing SecureBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in !bytes.contains(0) && UTF8Check.isValid(bytes) }
    }

    private static func readAll(
        _ descriptor: Int32,
        _ interruption: Interruption
    ) throws(CommandFailure) -> SecureBytes {
        let buffer = GrowingBuffer()
        while true {
            try interruption.waitForInput(descriptor)
            let result = Glibc.read(descriptor, buffer.free.baseAddress, buffer.free.count)
            if result < 0, errno == EINTR || errno == EAGAIN { continue }
            guard result >= 0 else {
                let reason = String(cString: strerror(errno))
                throw CommandFailure(.inputOutput, "the secret cannot be read: \(reason)")
            }
            if result == 0 { break }
            buffer.added(result)
            guard buffer.count <= limit else {
                throw CommandFailure(.refused, "the secret is larger than \(limit >> 20) MiB")
            }
        }
        do throws(GcryptError) {
            return try SecureBytes(copying: buffer.bytes)
        } catch {
            throw CommandFailure(.failure, "there is no memory for the secret: \(error.reason)")
        }
    }
}

/// Bytes of unknown number, overwritten wherever they have been.
private final class GrowingBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    private(set) var count = 0

    deinit {
        wipe(memory)
        memory.deallocate()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// The space for further bytes; never empty.
    var free: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[count...]) }

    func added(_ added: Int) {
        count += added
        guard count == memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count * 2, alignment: 1)
        larger.copyMemory(from: bytes)
        wipe(memory)
        memory.deallocate()
        memory = larger
    }
}

/// Validates UTF-8 without a copy as a string.
enum UTF8Check {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        scalars(of: bytes) { _ in true }
    }

    /// Whether a terminal shows the bytes and does nothing else: text without control characters but tab and newline.
    static func isHarmless(_ bytes: UnsafeRawBufferPointer) -> Bool {
        scalars(of: bytes) { scalar in
            scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
        }
    }

    private static func scalars(of bytes: UnsafeRawBufferPointer, _ isGood: (Unicode.Scalar) -> Bool) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if !isGood(scalar) { return false }
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
