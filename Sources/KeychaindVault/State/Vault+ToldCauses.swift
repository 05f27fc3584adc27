/// The causes that a person has been notified of, so that none is repeated at each start.
extension Vault {
    /// Whether the cause is the last one reported about a subject; false if that cannot be read.
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

extension VaultFolder {
    fileprivate func toldCause(of subject: String) throws(VaultError) -> [UInt8]? {
        try openedState().toldCause(of: subject)
    }

    fileprivate func setToldCause(_ cause: [UInt8]?, of subject: String) throws(VaultError) {
        try changeState { (state) throws(VaultError) in try state.setToldCause(cause, of: subject) }
    }
}

extension StateFile {
    private static let prefix = "told/"

    func toldCause(of subject: String) -> [UInt8]? { value(ofRecord: Self.prefix + subject) }

    fileprivate func setToldCause(_ cause: [UInt8]?, of subject: String) throws(VaultError) {
        try set([Self.prefix + subject: cause])
    }
}
