package import KeychaindLanguage

/// The process behind a connection, as /proc shows it.
package struct CallerProcess: Hashable, Sendable {
    package let id: Int32

    /// The start, in clock ticks since boot; unique together with the id.
    package let startTime: UInt64

    /// Whether the bus holds the process descriptor, so that the id cannot belong to a later process.
    package let isHeldByBus: Bool

    /// The name that the process gives itself, cleaned and cut.
    package let commandName: String

    package let program: ProgramFile?

    /// The possible authors of its loaded code, apart from the program file.
    package let code: MappedCode.Origin

    /// The script that an interpreter claims to run, with any characters.
    package let script: String?

    package let unit: SystemdUnit?
    package let sandbox: Sandbox?

    /// The languages that its environment asks for; nil if they cannot be seen.
    package var locale: LocaleNames?

    /// The programs around it; nil if they were not looked for.
    package var lineage: CallerLineage?

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
    package var description: String { text.english }

    package var text: Text {
        if case .unnamed = sandbox { return Text("a sandbox without a proven name") }
        if let sandbox { return Text(verbatim: sandbox.description) }
        if let program {
            guard let script else { return Text("\(program.text) (process \(id))") }
            return Text(
                "\(program.text) (process \(id)), which says that it runs “\(CallerText.path(script))”"
            )
        }
        if let unit { return Text("a program in “\(unit.name)” (process \(id))") }
        guard !commandName.isEmpty else { return Text("a program that cannot be seen (process \(id))") }
        return Text("a program that calls itself “\(commandName)” (process \(id))")
    }
}
