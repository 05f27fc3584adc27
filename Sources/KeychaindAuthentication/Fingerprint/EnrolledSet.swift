import KeychaindGcrypt

/// Everything observable about the enrolled fingers, hashed to detect changes.
struct EnrolledSet {
    /// Separates this hash from others over the same facts.
    private static let label = Array("keychaind 1 biometry set".utf8)

    let model: String
    /// The finger names, sorted.
    let fingers: [String]
    let templates: [Template]

    /// HMAC-SHA256 over all facts with their lengths; nil if out of memory.
    func hash() -> BiometrySet? {
        let facts = encoded
        do throws(GcryptError) {
            let authenticator = try HMACSHA256(key: SecureBytes(copying: EnrolledSet.label))
            return BiometrySet(
                hash: try facts.span.withUnsafeBytes { (bytes) throws(GcryptError) in
                    try authenticator.authenticate(bytes)
                }
            )
        } catch {
            return nil
        }
    }

    private var encoded: [UInt8] {
        var encoder = FactEncoder()
        encoder.add(model.utf8)
        encoder.add(fingers.count)
        for finger in fingers {
            encoder.add(finger.utf8)
        }
        encoder.add(templates.count)
        for template in templates {
            encoder.add(template.name.utf8)
            switch template.content {
            case .bytes(let bytes):
                encoder.add("bytes".utf8)
                encoder.add(bytes)
            case .unread(let size, let inode, let seconds, let nanoseconds):
                encoder.add("unread".utf8)
                encoder.add(size)
                encoder.add(Int(truncatingIfNeeded: inode))
                encoder.add(seconds)
                encoder.add(nanoseconds)
            case .hidden:
                encoder.add("hidden".utf8)
            }
        }
        return encoder.bytes
    }
}

/// Encodes facts so that different lists never give the same bytes.
struct FactEncoder {
    private(set) var bytes: [UInt8] = []

    /// Appends eight bytes, most significant first.
    mutating func add(_ number: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    /// Appends the length, then the bytes.
    mutating func add(_ fact: some Collection<UInt8>) {
        add(fact.count)
        bytes += fact
    }
}
