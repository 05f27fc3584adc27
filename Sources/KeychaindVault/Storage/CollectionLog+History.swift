import KeychaindLog
import KeychaindModel

/// A past state of a keychain, in its own file.
struct PastState: Equatable, Sendable {
    let sequence: UInt64
    let modified: Timestamp
    let label: String
}

extension CollectionLog {
    /// The states that the last change of a day has left, without the present one, the latest first.
    ///
    /// - Parameter limit: the most states to return.
    func pastStates(atMost limit: Int) throws(VaultError) -> [PastState] {
        var states: [PastState] = []
        var day: Int64?
        let horizon = records.horizon
        try logged { () throws(LogError) in
            try records.forEachPast(of: .state) { sequence, open in
                guard states.count < limit, sequence >= horizon, let state = OpenState(open) else { return false }
                let found = state.modified.day
                if let day, day != found {
                    states.append(PastState(sequence: sequence, modified: state.modified, label: state.label))
                }
                day = found
                return true
            }
        }
        return states
    }
}

extension Timestamp {
    /// The number of the day, in UTC.
    fileprivate var day: Int64 { microsecondsSinceEpoch / 1_000_000 / (24 * 60 * 60) }
}

/// Decides when a log is rewritten without what no kept state needs.
struct CompactionPlan {
    private var nextCount = 0
    private var lastDay: Int64?
    private var hasChanged = false

    mutating func noteChange() { hasChanged = true }

    /// Whether there is much to drop, or something to drop on another day than the last time.
    mutating func isDue(for log: RecordLog, at now: Timestamp) -> Bool {
        guard hasChanged, log.frameCount > log.count else { return false }
        guard lastDay != now.day || log.frameCount >= max(nextCount, 2 * log.count + 256) else { return false }
        lastDay = now.day
        hasChanged = false
        return true
    }

    mutating func noteCompaction(of log: RecordLog) { nextCount = 2 * log.frameCount + 256 }
}
