import Gcrypt

/// All that can be seen of which fingers are enrolled, to be hashed.
struct EnrolledSet {
    /// Separates this hash from any other that is made of the same facts.
    private static let label = Array("keychaind 1 biometry set".utf8)

    /// The model of the reader.
    let model: String
    /// The names of the fingers, sorted.
    let fingers: [String]
    /// What can be seen of the files with the prints.
    let templates: [Template]

    /// HMAC-SHA256 of all facts, each with its length before it; nil if there is no memory for that.
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

/// Writes facts one after the other, so that no two rows of facts give the same bytes.
struct FactEncoder {
    /// What was written.
    private(set) var bytes: [UInt8] = []

    /// Eight bytes, most significant first.
    mutating func add(_ number: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    /// The length, and the bytes.
    mutating func add(_ fact: some Collection<UInt8>) {
        add(fact.count)
        bytes += fact
    }
}
