import Glibc
import KeychaindAuthentication

/// The command-line options.
///
/// Parsed by hand: an argument parser would load Foundation into a process with secrets.
struct Options: Equatable {
    /// The descriptor to read the password of `login` from; nil for none.
    var passwordDescriptor: Int32?
    var replaces = false
    var dataDirectory: String?
    /// A folder with rules that count beside the administrators'.
    var rulesDirectory: String?
    var prompters = PrompterName.standard
    var isVerbose = false

    enum Request: Equatable {
        case serve(Options)
        case showVersion
        case showHelp
    }

    struct UsageError: Error, Equatable {
        let message: String
    }

    static let help = """
        Usage: keychaind [--unlock | --unlock-fd N] [--replace] [--data-dir DIR] [--prompters LIST]
                         [--rules-dir DIR] [--verbose]

        Stores the passwords of a desktop session, as org.freedesktop.secrets on the session bus.

          --unlock         read a password from standard input and unlock the keychain 'login' with it;
                           create that keychain if there is none
          --unlock-fd N    the same, with the password from descriptor N
          --replace        replace a provider that allows it, and allow others to replace this one
          --data-dir DIR   keep keychains in DIR instead of $XDG_DATA_HOME/keychaind
          --prompters LIST ask for passwords with the first of these that is available: kde, gcr, pinentry, tty;
                           none: never ask (default: kde,gcr,pinentry,tty)
          --rules-dir DIR  read rules from DIR, too, as from /etc/keychaind/rules.d; they can only forbid more
          --verbose        log more
          --version        print the version and exit
          --help           print this and exit
        """

    static func parse(_ arguments: some Sequence<String>) throws(UsageError) -> Request {
        var options = Options()
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--unlock": options.passwordDescriptor = STDIN_FILENO
            case "--unlock-fd": options.passwordDescriptor = try descriptor(rest.next() ?? "")
            case _ where argument.hasPrefix("--unlock-fd="):
                options.passwordDescriptor = try descriptor(argument.dropFirst("--unlock-fd=".count))
            case "--replace": options.replaces = true
            case "--verbose": options.isVerbose = true
            case "--version": return .showVersion
            case "--help", "-h": return .showHelp
            case "--data-dir":
                guard let directory = rest.next() else { throw UsageError(message: "--data-dir needs a folder") }
                options.dataDirectory = directory
            case _ where argument.hasPrefix("--data-dir="):
                options.dataDirectory = String(argument.dropFirst("--data-dir=".count))
            case "--rules-dir":
                guard let directory = rest.next(), !directory.isEmpty else {
                    throw UsageError(message: "--rules-dir needs a folder")
                }
                options.rulesDirectory = directory
            case _ where argument.hasPrefix("--rules-dir="):
                options.rulesDirectory = String(argument.dropFirst("--rules-dir=".count))
            case "--prompters":
                options.prompters = try order(rest.next() ?? "")
            case _ where argument.hasPrefix("--prompters="):
                options.prompters = try order(argument.dropFirst("--prompters=".count))
            default:
                throw UsageError(message: "unknown argument '\(argument)'")
            }
        }
        if let directory = options.dataDirectory, directory.isEmpty {
            throw UsageError(message: "--data-dir needs a folder")
        }
        return .serve(options)
    }

    private static func descriptor(_ text: some StringProtocol) throws(UsageError) -> Int32 {
        // 1 and 2 are for output.
        guard let number = Int32(text), number == STDIN_FILENO || number > STDERR_FILENO else {
            throw UsageError(message: "--unlock-fd needs the number of a descriptor to read from")
        }
        return number
    }

    private static func order(_ text: some StringProtocol) throws(UsageError) -> [PrompterName] {
        if let order = PrompterName.order(text) { return order }
        throw UsageError(
            message: "--prompters needs some of \(PrompterName.allCases.map(\.rawValue).joined(separator: ","))"
        )
    }
}

/// Exit statuses, from sysexits.h.
enum DaemonExit: Int32 {
    /// Ended by a signal, or replaced.
    case success = 0
    case usage = 64
    /// There is no bus, or another provider owns the name.
    case unavailable = 69
    /// The data folder cannot be used.
    case inputOutput = 74
    /// Another keychaind uses the same folder.
    case inUse = 75
    /// The bus has closed the connection; a service manager should restart the daemon.
    case disconnected = 76
}
