import Glibc

/// The name of an interface or a method, to be compared with that of a call where it lies: in every call, without a copy.
struct WireName: Hashable {
    private let text: [CChar]

    init(_ name: String) {
        text = Array(name.utf8CString)
    }

    /// Whether a NUL-terminated name is this.
    func matches(_ name: UnsafePointer<CChar>) -> Bool {
        text.withUnsafeBufferPointer { text in
            text.baseAddress.map { start in strcmp(start, name) == 0 } ?? false
        }
    }
}
