package import KeychaindLanguage

/// The name of a program for a person; its form says what the name is based on.
package enum ProgramName: Hashable, Sendable {
    /// A program that only an administrator can change, by its file name or its desktop entry.
    case installed(String)
    /// Another program file, by its path, so that a `git` of the user does not pass for the system's.
    case file(String)
    /// The script that an interpreter says it runs.
    case script(String)
    /// A sandboxed application, by its id.
    case application(String)
    /// The name that a process gives itself.
    case claimed(String)
    case unknown

    /// The name within a sentence.
    ///
    /// Only an installed program goes without quotation marks; no other name can contain its own closing one.
    package var text: Text {
        switch self {
        case .installed(let name): Text(verbatim: PromptText.name(name, limit: ProgramName.limit))
        case .file(let path): Text("the program “\(CallerText.path(path))”")
        case .script(let name): Text("the script “\(PromptText.name(name, limit: ProgramName.limit))”")
        case .application(let id): Text("the application “\(PromptText.name(id))”")
        case .claimed(let name):
            Text("a program that calls itself “\(PromptText.name(name, limit: ProgramName.limit))”")
        case .unknown: Text("an unknown program")
        }
    }

    /// The name at the beginning of a sentence.
    package var subject: Text {
        if case .installed = self { text } else { text.capitalized }
    }

    /// In characters.
    private static let limit = 60
}

extension CallerProcess {
    /// The name of the program, without regard to its desktop entry.
    package var name: ProgramName {
        switch sandbox {
        case .flatpak(let id): return .application(id)
        case .snap(let name, _): return .application(name)
        case .profile, .unnamed, nil: break
        }
        guard let program else { return commandName.isEmpty ? .unknown : .claimed(commandName) }
        if program.runsScripts, let script { return .script(CallerProcess.scriptName(script)) }
        guard program.place == .present, program.isProtected, code == .system else { return .file(program.path) }
        return .installed(program.name)
    }

    /// The file name of a script, after its folder if many scripts have that name.
    private static func scriptName(_ path: String) -> String {
        let parts = path.split(separator: "/")
        guard let last = parts.last, parts.count > 1 else { return path }
        let stem = last.prefix { $0 != "." }
        let isCommon = ["index", "main", "cli", "__main__"].contains(stem)
        return isCommon ? parts.suffix(2).joined(separator: "/") : String(last)
    }
}

extension ProgramFile {
    /// Whether the program is an interpreter that a person knows by its scripts, unlike `env` or `timeout`.
    var runsScripts: Bool {
        let stem = name.prefix { !$0.isNumber && $0 != "." && $0 != "-" }
        return isInterpreter && ProgramFile.languages.contains(stem)
    }

    /// Whether a process without a script only runs other programs: a shell, or `env`, `timeout` and the like.
    var isWrapper: Bool {
        isInterpreter && (!runsScripts || ProgramFile.shells.contains(name))
    }

    /// Whether the program works for another one that a person knows.
    var isHelper: Bool {
        ProgramFile.helpers.contains(name) || ProgramFile.helperPrefixes.contains(where: name.hasPrefix)
    }

    /// Whether a script, as an interpreter claims it, works for another program.
    static func isHelper(script: String) -> Bool {
        let name = script.split(separator: "/").last.map(String.init) ?? script
        return ["keyring", "module keyring", "module secretstorage"].contains(name)
            || helperPrefixes.contains(where: name.hasPrefix)
    }

    private static let shells: Set<String> = [
        "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "xonsh", "zsh",
    ]

    private static let languages: Set<Substring> = [
        "bash", "bun", "csh", "dash", "deno", "electron", "fish", "gjs", "guile", "java", "ksh", "lua", "luajit",
        "mksh", "node", "nodejs", "perl", "php", "pypy", "python", "rbash", "ruby", "sh", "tclsh", "tcsh", "wish",
        "xonsh", "zsh",
    ]

    private static let helpers: Set<String> = [
        "busctl", "dbus-send", "gdbus", "gio", "keychainctl", "keyring", "secret-tool",
    ]

    private static let helperPrefixes = ["docker-credential-", "git-credential-", "git-remote-"]
}
