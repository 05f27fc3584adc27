package import KeychaindLanguage
package import KeychaindModel

/// The identity of a caller, with evidence.
package struct Caller: Hashable, Sendable {
    /// The result of an inspection.
    package enum Insight: Hashable, Sendable {
        case process(CallerProcess)
        /// An application behind the desktop portal, by the portal's id; may be empty.
        case portal(application: String)
        /// The process cannot be inspected; the reason is for a person.
        case opaque(reason: Text)
    }

    /// The unique name, such as `:1.42`.
    package let uniqueName: String

    /// The user, if the bus knows it.
    package let userID: UInt32?

    package let insight: Insight

    package init(uniqueName: String, userID: UInt32? = nil, insight: Insight) {
        self.uniqueName = uniqueName
        self.userID = userID
        self.insight = insight
    }

    package static func opaque(_ uniqueName: String, userID: UInt32? = nil, reason: Text) -> Caller {
        Caller(uniqueName: uniqueName, userID: userID, insight: .opaque(reason: reason))
    }

    package var process: CallerProcess? {
        if case .process(let process) = insight { process } else { nil }
    }

    package var evidence: CallerEvidence {
        switch insight {
        case .process(let process): process.evidence
        case .portal: .desktopPortal
        case .opaque: .nothing
        }
    }

    /// The attacks that the evidence withstands.
    package var strength: Strength { evidence.strength }

    /// An identifier that differs between applications; neither secret nor proof, see ``evidence``.
    package var applicationIdentity: String? {
        process?.applicationIdentity
    }
}

extension Caller: CustomStringConvertible {
    /// The caller for the log and the audit.
    package var description: String { text.english }

    /// The caller for a prompt, such as `“/usr/bin/secret-tool” (process 1234)`: on one line, cleaned and cut.
    var text: Text {
        switch insight {
        case .process(let process): process.text
        case .portal(""): Text("an application without a name")
        case .portal(let application): Text("the application “\(PromptText.name(application))”")
        case .opaque(let reason): Text("an unknown program (\(reason))")
        }
    }

    /// The language of the caller's environment, for a dialog; that of keychaind where the caller has none, or one
    /// without a catalogue.
    package var language: Language {
        process?.locale.flatMap(Catalogues.installed.language) ?? .ofProcess
    }
}

extension Caller {
    /// The name of the program that a person knows, for a headline.
    package var name: ProgramName {
        switch insight {
        case .process(let process): process.lineage?.program ?? process.name
        case .portal(""), .opaque: .unknown
        case .portal(let application): .application(application)
        }
    }

    /// The program between that one and keychaind, and the one around them, such as "through secret-tool, in Terminal".
    package var surroundings: Text {
        switch (process?.lineage?.helper?.text, process?.lineage?.place?.text) {
        case (nil, nil): .empty
        // Translators: programs, such as "through secret-tool"
        case (let helper?, nil): Text("through \(helper)")
        // Translators: programs, such as "in Terminal"
        case (nil, let place?): Text("in \(place)")
        // Translators: programs, such as "through secret-tool, in Terminal"
        case (let helper?, let place?): Text("through \(helper), in \(place)")
        }
    }

    /// The surroundings as a sentence, for below a headline with the name; may be empty.
    package var circumstances: Text {
        // Translators: a whole sentence, such as "through secret-tool, in Terminal"
        surroundings.isEmpty ? .empty : Text("\(surroundings.capitalized).")
    }

    /// The caller in a sentence, for below a headline without it.
    package var introduction: Text { Text("Asked for by \(fullName).") }

    /// The name with its surroundings.
    package var fullName: Text { .list([name.text, surroundings]) }

    /// The evidence in sentences; says what is only seen, not proven.
    package var details: Text {
        // Translators: a program, and how it is known, such as "which only an administrator can change"
        let asker = Text("\(text), \(evidence.explanation).")
        guard let lineage = process?.lineage, lineage.helper != nil || lineage.place != nil else { return asker }
        let program = lineage.helper.map { _ in lineage.program.text }
        let start =
            switch (program, lineage.place?.text) {
            case (let program?, let place?):
                Text("\(program), in \(place), seems to have started it, but this cannot be verified.")
            case (let starter?, nil), (nil, let starter?):
                Text("\(starter) seems to have started it, but this cannot be verified.")
            case (nil, nil): Text.empty
            }
        return .joined([asker, start])
    }
}

/// The evidence for a caller's identity.
///
/// None holds against a program of the same user that starts another one and acts through it.
///
/// ``strength`` says what each withstands.
package enum CallerEvidence: String, Hashable, Sendable, CaseIterable {
    /// The security label that the kernel enforces and the bus reports, as for a Snap.
    case securityLabel = "security-label"

    /// The file that Flatpak puts into each sandbox, equal to its record of the instance outside.
    case sandboxFile = "sandbox-file"

    /// A sandbox whose name is not proven, such as one inside of another.
    case unprovenSandbox = "unproven-sandbox"

    /// The statement of the desktop portal, which asks for the application.
    case desktopPortal = "desktop-portal"

    /// The control group that snapd created for the process.
    case controlGroup = "control-group"

    /// The program file, if only root can change it and the other files of loaded code.
    case systemProgram = "system-program"

    /// The program file, if the user's programs can change it or another file of loaded code.
    case ownProgram = "own-program"

    /// The program file of an interpreter; only the process itself names its script.
    case interpreter = "interpreter"

    /// A path in another file system, such as a container's, where any program may be.
    case foreignProgram = "foreign-program"

    /// The systemd unit of the process; the user's programs can create any.
    case unit = "unit"

    /// The name that the process gives itself.
    case commandName = "command-name"

    case nothing = "nothing"

    /// The attacks that the evidence withstands.
    package var strength: Strength {
        switch self {
        case .securityLabel, .sandboxFile: .proven
        // The portal is a program of the user, and looks at the sandboxes itself.
        case .desktopPortal, .systemProgram: .likely
        case .unprovenSandbox, .controlGroup, .ownProgram, .interpreter, .foreignProgram, .unit, .commandName, .nothing:
            .said
        }
    }

    /// The words after the description and a comma.
    package var explanation: Text {
        switch self {
        case .securityLabel: Text("held in its sandbox by the system")
        case .sandboxFile: Text("held in its sandbox by Flatpak")
        case .unprovenSandbox: Text("which may have made up its name")
        case .desktopPortal: Text("as the desktop portal says")
        case .controlGroup: Text("as its control group says")
        case .systemProgram: Text("which only an administrator can change")
        case .ownProgram: Text("which your programs can change, or code that it has loaded")
        case .interpreter: Text("which runs any script; which one is only its own claim")
        case .foreignProgram: Text("where any program may be")
        case .unit: Text("which your programs can name as they like")
        case .commandName: Text("which it may have made up")
        case .nothing: Text("about which nothing could be checked")
        }
    }
}
