/// The programs that a setting names: file names, absolute paths, the ids of sandboxed applications, or `*` for all.
///
/// A name is no proof, as a program of the user can have any. So a selection may allow only what each program could do
/// anyway.
package struct ProgramSelection: Hashable, Sendable {
    private let names: Set<String>

    package init(_ names: some Sequence<String> = []) {
        self.names = Set(names)
    }

    package var isEmpty: Bool { names.isEmpty }

    /// Whether the program is selected, or the one that it works for.
    package func contains(_ caller: Caller) -> Bool {
        if names.contains("*") { return true }
        return switch caller.insight {
        case .process(let process): !names.isDisjoint(with: process.selectors)
        case .portal(let application): names.contains(application)
        case .opaque: false
        }
    }
}

extension CallerProcess {
    /// The names by which a setting can select the process.
    fileprivate var selectors: [String] {
        if sandbox != nil { return ProgramName.selectors(of: name) }
        var selectors: [String] = []
        if let program { selectors += [program.path, program.name] }
        if let script { selectors += [script, ProgramName.lastPart(of: script)] }
        if let known = lineage?.program { selectors += ProgramName.selectors(of: known) }
        return selectors
    }
}

extension ProgramName {
    fileprivate static func selectors(of name: ProgramName) -> [String] {
        switch name {
        case .installed(let name), .script(let name): [name]
        case .file(let path): [path, lastPart(of: path)]
        case .application(let id): [id]
        case .claimed, .unknown: []
        }
    }

    fileprivate static func lastPart(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
