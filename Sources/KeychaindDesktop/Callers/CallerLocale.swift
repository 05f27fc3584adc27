import KeychaindLanguage

/// The languages in a caller's environment.
///
/// The process may have written anything there: it is used only to choose among the installed catalogues.
enum CallerLocale {
    static func read(of folder: ProcessFolder) -> LocaleNames? {
        folder.readEnvironment { content in find(in: content) }
    }

    static func find(in environment: [UInt8]) -> LocaleNames {
        var values: [String: String] = [:]
        for variable in environment.split(separator: 0) {
            for name in LocaleNames.variables where values[name] == nil && variable.starts(with: Array("\(name)=".utf8))
            {
                values[name] = String(decoding: variable.dropFirst(name.utf8.count + 1), as: UTF8.self)
            }
        }
        return LocaleNames { values[$0] }
    }
}
