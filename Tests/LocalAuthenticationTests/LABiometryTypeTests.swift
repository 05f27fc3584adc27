import LocalAuthentication
import Testing

struct LABiometryTypeTests {
    private static let all: [(LABiometryType, Int)] = [(.none, 0), (.touchID, 1), (.faceID, 2), (.opticID, 4)]

    @Test("The numbers are Apple's, and no two kinds are equal")
    func number_isApples() {
        for (type, number) in Self.all {
            #expect(type.rawValue == number && LABiometryType(rawValue: number) == type)
            #expect(!"\(type)".isEmpty)
        }
        #expect(Dictionary(uniqueKeysWithValues: Self.all).count == 4)
        #expect(LABiometryType(rawValue: 3) == nil && LABiometryType(rawValue: -1) == nil)
    }

    @Test("A switch compiles with and without Optic ID, which is no other kind")
    func switch_withAndWithoutOpticID() {
        #expect(Self.all.map { oldName($0.0) } == ["none", "Touch ID", "Face ID", "unknown"])
        #expect(Self.all.map { newName($0.0) } == ["none", "Touch ID", "Face ID", "Optic ID"])
    }

    private func oldName(_ type: LABiometryType) -> String {
        switch type {
        case .none: "none"
        case .touchID: "Touch ID"
        case .faceID: "Face ID"
        @unknown default: "unknown"
        }
    }

    private func newName(_ type: LABiometryType) -> String {
        switch type {
        case .none: "none"
        case .touchID: "Touch ID"
        case .faceID: "Face ID"
        case .opticID: "Optic ID"
        @unknown default: "unknown"
        }
    }
}
