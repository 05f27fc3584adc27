import KeychaindModel
import KeychaindVault
import Testing

struct VaultLimitsTests {
    @Test
    func itemPaths_fitIntoOneArray() {
        let prefix = "/org/freedesktop/secrets/collection/".utf8.count
        // After the name come a slash and the ID; around each path its length, a NUL and padding.
        let path = prefix + CollectionName.maximumLength + 1 + "\(Int64.max)".utf8.count + 4 + 1 + 3
        #expect(VaultLimits().items * path <= 64 << 20)
    }
}
