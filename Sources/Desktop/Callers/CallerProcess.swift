/// The process behind a connection, as /proc shows it.
package struct CallerProcess: Hashable, Sendable {
    /// The process id.
    package let id: Int32

    /// When the process was started, in clock ticks since the machine was; with the id, it names a process once and for
    /// all.
    package let startTime: UInt64

    /// Whether the bus holds on to the process, so that this cannot be a later one that was given the same id.
    package let isHeldByBus: Bool

    /// The name that the process gives itself, cleaned and cut.
    package let commandName: String

    /// The program file, if it may be seen.
    package let program: ProgramFile?

    /// Who can have put code into it, the program file aside.
    package let code: MappedCode.Origin

    /// What an interpreter says that it runs, whatever characters are in it.
    package let script: String?

    /// The systemd unit that it is in, if it is in one.
    package let unit: SystemdUnit?

    /// The sandbox that it is in, if it is in a known one.
    package let sandbox: Sandbox?

    /// Creates a value from what was found.
    package init(
        id: Int32,
        startTime: UInt64,
        isHeldByBus: Bool = false,
        commandName: String = "",
        program: ProgramFile? = nil,
        code: MappedCode.Origin = .system,
        script: String? = nil,
        unit: SystemdUnit? = nil,
        sandbox: Sandbox? = nil
    ) {
        self.id = id
        self.startTime = startTime
        self.isHeldByBus = isHeldByBus
        self.commandName = PromptText.name(commandName)
        self.program = program
        self.code = code
        self.script = script
        self.unit = unit
        self.sandbox = sandbox
    }

    /// What the description rests on: the strongest that there is.
    var evidence: CallerEvidence {
        if let sandbox { return sandbox.evidence }
        if let program {
            switch program.place {
            case .foreign: return .foreignProgram
            case .present, .deleted: break
            }
            if program.isInterpreter { return .interpreter }
            return program.isProtected && code == .system ? .systemProgram : .ownProgram
        }
        if unit != nil { return .unit }
        return commandName.isEmpty ? .nothing : .commandName
    }

    /// See ``Caller/applicationIdentity``.
    var applicationIdentity: String? {
        if let sandbox { return sandbox.identity }
        if let program {
            guard let script else { return "program:\(program.path)" }
            return "script:\(program.path):\(script)"
        }
        return unit.map { "unit:\($0.applicationID ?? $0.name)" }
    }
}

extension CallerProcess: CustomStringConvertible {
    /// The process in a prompt's words.
    package var description: String {
        if let sandbox { return sandbox.description }
        if let program {
            let claim = script.map { ", which says that it runs “\(CallerText.path($0))”" } ?? ""
            return "\(program) (process \(id))\(claim)"
        }
        if let unit { return "a program in “\(unit.name)” (process \(id))" }
        guard !commandName.isEmpty else { return "a program that cannot be seen (process \(id))" }
        return "a program that calls itself “\(commandName)” (process \(id))"
    }
}
