import Glibc

/// A program that provides the Secret Service.
struct Provider {
    static let password = "password"

    let name: String
    let executable: String
    let arguments: [String]

    /// The most items that it can be filled with in reasonable time.
    let capacity: Int

    /// The keychaind of this build, or of the environment variable `KEYCHAIND`.
    static func keychaind() throws -> Provider {
        let built = realpath("/proc/self/exe", nil).map { path in
            defer { free(path) }
            return String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/keychaind"
        }
        guard let executable = getenv("KEYCHAIND").map({ String(cString: $0) }) ?? built, access(executable, X_OK) == 0
        else { throw BenchmarkError(reason: "keychaind not found; build it or set KEYCHAIND to its path") }
        return Provider(name: "keychaind", executable: executable, arguments: ["--unlock"], capacity: .max)
    }

    /// GNOME's provider.
    ///
    /// Every change writes all items, so filling it takes quadratic time.
    static let gnomeKeyring = Provider(
        name: "gnome-keyring",
        executable: "gnome-keyring-daemon",
        arguments: ["--foreground", "--unlock", "--components=secrets"],
        capacity: 100
    )

    /// Starts the provider.
    func start(on stage: Stage, with further: [String] = []) throws -> ChildProcess {
        try stage.start(executable, arguments + further, input: Provider.password)
    }
}
