import KeychaindForeignFiles
import KeychaindLanguage
import KeychaindModel

/// Items that keychaind does not take from another provider.
///
/// A file or daemon of another provider cannot know whether a person agreed to an access control, and a secret of a
/// reserved content type would become a key. Other reserved attributes, of Apple's API on any provider, are kept.
enum ReservedItems {
    private static let names: Set<String> = ["keychain:access-control", "keychain:token"]

    /// Why an item is left out; nil if it is not.
    static func reason(against item: borrowing ForeignItem) -> Text? {
        if item.attributes.keys.contains(where: names.contains) {
            return Text("it claims an access control of keychaind")
        }
        if ReservedContentType.isReserved(item.contentType) {
            return Text("it claims to be a key of keychaind")
        }
        return nil
    }
}
