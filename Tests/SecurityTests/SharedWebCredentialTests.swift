import Foundation
import Security
import Testing

struct SharedWebCredentialTests {
    @Test("Generated passwords are four groups of three clear characters, and differ")
    func password_isStrong() throws {
        let passwords = try (0..<200).map { _ in try #require(SecCreateSharedWebCredentialPassword()) as String }
        for password in passwords {
            let groups = password.split(separator: "-")
            #expect(groups.count == 4 && groups.allSatisfy { $0.count == 3 })
            #expect(password.allSatisfy { !"iIlO01".contains($0) })
        }
        #expect(Set(passwords).count == 200)
        #expect(Set(passwords.joined()).count == 55)
    }
}
