import KeychaindModel
import Logging

/// What checks have found damaged in the file of a collection, since its items were read.
struct FoundDamage: Equatable {
    /// The most findings that are reported; `keychainctl check` lists all.
    private static let maximumFindings = 3

    let findings: [String]

    /// The depth of the checks; a shallower one would miss the damage.
    let depth: FileReport.Depth

    var problem: String {
        let told = findings.prefix(Self.maximumFindings).joined(separator: ", ")
        let more = findings.count > Self.maximumFindings ? ", …" : ""
        return "a check has found the file damaged: \(told)\(more); what is in memory can still be read"
    }
}

extension Collection {
    /// Checks the file with the keys at hand; what is damaged becomes a problem until a check finds it sound.
    ///
    /// Items stay as they are in memory. Throws errors that may pass.
    func checkFile(on worker: Worker<Void>) async throws(VaultError) -> FileReport {
        let keys = checkKeys
        let (path, configuration) = (context.folder.file(name.fileName), context.configuration)
        // Without it, a damaged last change would pass for one that a crash has interrupted.
        let known = try await sequence
        // A disk that has returned too little makes a sound file look damaged, and so does a change meanwhile.
        let report = try await worker.perform { (_) throws(VaultError) in
            try retryingRead(until: \.isSound) { (_) throws(VaultError) in
                try CollectionLog.check(path, known: known, configuration, keys: keys)
            }
        }
        note(report)
        return report
    }

    /// The sequence of the last change that is stored; 0 if it is unknown.
    var sequence: UInt64 {
        get async throws(VaultError) {
            guard case .file(let worker) = storage else { return 0 }
            return try await worker.perform { (writer) throws(VaultError) in writer.sequence }
        }
    }

    /// Checks the file after a copy of it was found damaged: the copy alone may be.
    func lookForDamage() async {
        do throws(VaultError) {
            _ = try await checkFile(on: context.copyWorker)
        } catch {
            context.configuration.logger.warning("\(name): the file could not be checked for damage: \(error)")
        }
    }

    private func note(_ report: FileReport) {
        // The unlock reads and reports what is not in memory yet.
        guard case .file = storage, keys != nil, !hasEnded else { return }
        let depth = foundDamage?.depth ?? .structure
        guard !report.isSound else {
            if report.depth.rawValue >= depth.rawValue { foundDamage = nil }
            return
        }
        let deepest = report.depth.rawValue > depth.rawValue ? report.depth : depth
        let found = FoundDamage(findings: report.findings, depth: deepest)
        if found != foundDamage { context.configuration.logger.error("\(name): \(found.problem)") }
        foundDamage = found
    }
}
