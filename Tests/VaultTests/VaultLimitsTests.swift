import KeychainModel
import Testing
import Vault

struct VaultLimitsTests {
    @Test
    func items_pathsOfAll_fitIntoOneArray() {
        let prefix = "/org/freedesktop/secrets/collection/".utf8.count
        // Behind the name come a slash and the number; around each path its length, a NUL and padding.
        let path = prefix + CollectionName.maximumLength + 1 + "\(Int64.max)".utf8.count + 4 + 1 + 3
        #expect(VaultLimits().items * path <= 64 << 20)
    }
}
