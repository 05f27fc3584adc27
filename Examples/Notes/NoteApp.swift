import LocalAuthentication

/// A note that only its owner can read.
struct NoteApp {
    private enum State {
        case locked
        case open(String, NoteKey)
    }

    private let file = NoteFile()
    private var state = State.locked

    /// Runs commands until the end of the input.
    mutating func run() {
        print("Commands: unlock, show, edit, password, lock, reset, quit.")
        if file.header == nil { attempt { app in try app.begin() } }
        while let command = ask(isOpen ? "open> " : "locked> "), command != "quit" {
            switch command {
            case "": continue
            case "unlock": attempt { app in try app.unlock() }
            case "show": whileOpen { _, text, _ in print(text.isEmpty ? "The note is empty." : text) }
            case "edit": whileOpen { app, _, key in try app.edit(key) }
            case "password": whileOpen { app, text, key in try app.changePassword(text, key) }
            case "lock": state = .locked
            case "reset": attempt { app in try app.reset() }
            default: print("Unknown command.")
            }
        }
    }

    private var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Commands

    /// Creates an empty note.
    private mutating func begin() throws {
        print("There is no note yet. Choose a password for a new one.")
        let (header, key) = (NoteFile.Header(), try NoteKey())
        try key.store(.password, header.password)
        try file.write("", with: key, header)
        state = .open("", key)
        offerTouch(key, header)
    }

    private mutating func unlock() throws {
        guard let header = file.header else { return try begin() }
        let key = try keyByTouch(header) ?? keyByPassword(header)
        state = .open(try file.read(with: key), key)
        print("The note is open.")
        offerTouch(key, header)
    }

    /// Also stores the key for a touch, if a finger is enrolled.
    private func offerTouch(_ key: NoteKey, _ header: NoteFile.Header) {
        guard LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else { return }
        // It may be stored already.
        try? key.store(.touch, header.touch)
    }

    private func keyByTouch(_ header: NoteFile.Header) -> NoteKey? {
        let context = LAContext()
        guard NoteKey.isStored(.touch, header.touch),
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
        else { return nil }
        context.localizedReason = "Open your note"
        context.localizedFallbackTitle = "Use Password"
        print("Touch the reader, or cancel to type the password of the note.")
        do {
            return try NoteKey(.touch, header.touch, context)
        } catch {
            print(error.localizedDescription)
            return nil
        }
    }

    private func keyByPassword(_ header: NoteFile.Header) throws -> NoteKey {
        let context = LAContext()
        context.localizedReason = "Open your note"
        print("Type the password of the note.")
        return try NoteKey(.password, header.password, context)
    }

    private mutating func edit(_ key: NoteKey) throws {
        guard let header = file.header else { throw NoteError.damaged }
        print("Type the note. End it with a line that contains only a dot.")
        var lines: [String] = []
        while let line = readLine(), line != "." { lines.append(line) }
        let text = lines.joined(separator: "\n")
        try file.write(text, with: key, header)
        state = .open(text, key)
        print("Stored.")
    }

    /// Stores the key under the new password before deleting the old item, so that cancelling loses nothing.
    private func changePassword(_ text: String, _ key: NoteKey) throws {
        guard let old = file.header else { throw NoteError.damaged }
        let context = LAContext()
        context.localizedReason = "Change the password of your note"
        print("Type the old password, choose a new one, and type the old one again to delete it.")
        _ = try NoteKey(.password, old.password, context)
        var new = old
        new.password = UUID().uuidString
        try key.store(.password, new.password)
        try file.write(text, with: key, new)
        try NoteKey.delete(.password, old.password, context)
        print("The note has the new password.")
    }

    /// Deletes the note, for owners who forgot the password.
    private mutating func reset() throws {
        guard let header = file.header else { return try begin() }
        try file.remove()
        state = .locked
        print("The note was deleted.")
        let context = LAContext()
        context.localizedReason = "Delete the key of your note"
        do {
            try NoteKey.delete(.password, header.password, context)
            if NoteKey.isStored(.touch, header.touch) { try NoteKey.delete(.touch, header.touch, context) }
            print("Its key was deleted.")
        } catch {
            print(error.localizedDescription, "Its key is still in the keychain, but opens nothing.")
        }
    }

    // MARK: Input and output

    private func ask(_ prompt: String) -> String? {
        print(prompt, terminator: "")
        fflush(nil)
        return readLine()?.trimmingCharacters(in: .whitespaces)
    }

    private mutating func attempt(_ command: (inout NoteApp) throws -> Void) {
        do {
            try command(&self)
        } catch {
            print(error.localizedDescription)
        }
    }

    private mutating func whileOpen(_ command: (inout NoteApp, String, NoteKey) throws -> Void) {
        guard case .open(let text, let key) = state else { return print("The note is locked.") }
        attempt { app in try command(&app, text, key) }
    }
}
