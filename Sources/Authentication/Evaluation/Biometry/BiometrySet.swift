/// Which fingers are enrolled, as a hash over all that the reader's service and its template store show.
///
/// Equal as long as nothing that can be seen has changed. It stands for the user and the machine, so it is not shown to programs as it
/// is, but bound to an item in the vault, and hashed again for each program.
package struct BiometrySet: Hashable, Sendable {
    /// 32 bytes.
    package let hash: [UInt8]

    /// Takes a hash.
    package init(hash: [UInt8]) {
        self.hash = hash
    }
}
