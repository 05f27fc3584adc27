import Keychain
import Security
import XCTest

@testable import App

final class AppTests: XCTestCase {
    func testNames_areOfThisPackage() {
        XCTAssertEqual(App.names.first, "Configuration")
    }

    func testSecurity_isImported() {
        XCTAssertEqual(errSecItemNotFound, -25300)
    }
}
