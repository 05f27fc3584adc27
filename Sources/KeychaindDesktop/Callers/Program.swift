/// What the connections of one program have in common, so that turns and limits count them together.
///
/// It is fair between honest programs, and proves nothing: a program outside of sandboxes can start another unit or
/// copy its file.
package enum Program: Hashable, Sendable {
    /// A sandboxed application, by its identity; all sandboxes without a proven name together, which see no items.
    case sandbox(identity: String)
    /// A unit of the user's service manager, by its desktop application or its name.
    case unit(String)
    /// A program file, with the script that it says it runs, in a login session.
    case file(String, isForeign: Bool, script: String?, session: String?)
    /// A process that shows no file.
    case process(id: Int32, startTime: UInt64)
    /// A connection alone, by its unique name: nothing is known about its process.
    case connection(String)

    package init(of caller: Caller) {
        switch caller.insight {
        case .process(let process): self.init(of: process)
        case .portal, .opaque: self = .connection(caller.uniqueName)
        }
    }

    private init(of process: CallerProcess) {
        if let sandbox = process.sandbox {
            self = .sandbox(identity: sandbox.identity ?? "")
        } else if let unit = process.unit, unit.isOneProgram {
            self = .unit(unit.applicationID ?? unit.name)
        } else if let file = process.program {
            self = .file(
                file.path,
                isForeign: file.place == .foreign,
                script: process.script,
                session: process.unit?.name
            )
        } else {
            self = .process(id: process.id, startTime: process.startTime)
        }
    }
}
