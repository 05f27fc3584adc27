/// The causes of which a person has been told, so that the same one is not repeated at each start.
extension Vault {
    /// Whether the cause is the last that a person was told about a subject; false if that cannot be read.
    package func wasTold(_ cause: String, about subject: String) async -> Bool {
        guard let context, let code = try? code(of: "told cause", Array(cause.utf8)) else { return false }
        let stored = try? await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.toldCause(of: subject)
        }
        return stored == code
    }

    /// Remembers a cause, as a code that does not reveal it; nil forgets the subject.
    package func setTold(_ cause: String?, about subject: String) {
        guard let context else { return }
        var code: [UInt8]?
        if let cause {
            guard let made = try? self.code(of: "told cause", Array(cause.utf8)) else { return }
            code = made
        }
        context.folderWorker.post { [code] folder in try? folder.setToldCause(code, of: subject) }
    }
}
