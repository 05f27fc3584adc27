/// Flatpak's `/.flatpak-info`: a key file about the application and its running instance.
struct FlatpakInfo: Hashable {
    /// The application's id: up to 255 letters, digits, `_`, `-` and `.`, as Flatpak accepts it.
    let application: String

    /// The number of the instance, a folder's name below `$XDG_RUNTIME_DIR/.flatpak`; nil in a file without one.
    let instance: String?

    /// Nil unless it names an application; of repeated keys the first counts, as one that came later would be added.
    init?(_ content: some Sequence<UInt8>) {
        var group = ""
        var application: String?
        var instance: String?
        for line in String(decoding: Array(content), as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = String(line.dropFirst().dropLast())
            } else if group == "Application", application == nil, line.hasPrefix("name=") {
                application = String(line.dropFirst("name=".count))
            } else if group == "Instance", instance == nil, line.hasPrefix("instance-id=") {
                instance = String(line.dropFirst("instance-id=".count))
            }
        }
        guard let application, application.contains("."), Sandbox.isName(application, limit: 255) else { return nil }
        self.application = application
        self.instance = instance.flatMap { Sandbox.isName($0, limit: 64) && !$0.hasPrefix(".") ? $0 : nil }
    }

    /// The name of the file in the root of a sandbox.
    static let name = ".flatpak-info"

    /// In bytes.
    static let longest = 64 << 10
}
