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
        let (folder, file, limits) = (context.folder, name.fileName, context.configuration.limits)
        // Looked for first: SQLite skips the damaged end of a journal, and removes the traces. No connection to the
        // file of an incomplete collection is open.
        let isOnlyRead = condition == .incomplete
        let report: FileReport
        do throws(VaultError) {
            report = try await read(on: worker) { () throws(VaultError) in
                let isDamaged = isOnlyRead ? try PageFile.journalIsDamaged(of: file, in: folder) : false
                // A disk that has returned too little makes a sound file look damaged.
                return try retryingRead(until: { report in report.isSound || isOnlyRead }) { (_) throws(VaultError) in
                    try FileCheck.run(folder.file(file), isDamaged ? .immutable : .shared, limits: limits, keys: keys)
                }
            }
        } catch {
            // The open connection cannot read it.
            guard error.code == .unreadable else { throw error }
            report = FileReport(unreadable: error.reason)
        }
        note(report)
        return report
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
        guard case .file = storage, keys != nil, condition != .incomplete, !hasEnded else { return }
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
