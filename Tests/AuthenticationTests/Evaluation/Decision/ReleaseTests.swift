import KeychaindAuthentication
import KeychaindModel
import Testing

struct ReleaseTests {
    /// All combinations of policy, accessibility, grant and session state.
    @Test(
        arguments: [nil, "userPresence", "biometryCurrentSet", "devicePasscode and applicationPassword"] as [String?]
    )
    func release_everyCombination_isTheExpectedOne(accessControl: String?) throws {
        let policy = try accessControl.flatMap { try AccessControl(parsing: $0).policy }
        let levels = [nil] + Accessibility.allCases
        for (level, bits) in levels.flatMap({ level in (0..<4).map { (level, $0) } }) {
            let (grant, isSessionLocked) = (bits & 1 != 0 ? 1 : nil, bits & 2 != 0)
            let release = Release(of: policy, level, grant: grant, isSessionLocked: isSessionLocked)
            let isForUnlockedSession = level?.rawValue.lowercased().hasPrefix("when") == true
            let expected: Release<Int> =
                switch (policy, isSessionLocked) {
                case (.some, true): .sessionLocked
                case (nil, true): isForUnlockedSession ? .sessionLocked : .free
                case (nil, false): .free
                case (let policy?, false): grant.map(Release.granted) ?? .needsAuthentication(policy)
                }
            #expect(release == expected, "\(String(describing: level)), \(grant != nil), \(isSessionLocked)")
        }
    }
}
