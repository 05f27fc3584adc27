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
