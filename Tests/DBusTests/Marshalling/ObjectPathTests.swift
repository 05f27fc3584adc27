import DBus
import Testing

struct ObjectPathTests {
    @Test(arguments: ["/", "/a", "/a/b", "/_/0/Z9_", "/org/freedesktop/secrets/collection/Default_5fkeyring/12"])
    func init_validPath_succeeds(text: String) {
        #expect(ObjectPath(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "a", "//", "/a/", "/a//b", "a/b", "/a-b", "/a b", "/ä", "/a\u{0}", "/a.b", "/a\n", " /a", "/a:",
    ])
    func init_invalidPath_isNil(text: String) {
        #expect(ObjectPath(text) == nil)
    }
}
