// swift-tools-version: 5.9

import PackageDescription

let package = Package(
    name: "Names",
    dependencies: [
        .package(path: "../keychaind"), .package(path: "Wrapper"), .package(path: "Stranger"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                "Configuration", "DBus", "Examples", "Gcrypt", "Keychain", "Notes", "TestSupport", "Vault",
                .product(name: "Stranger", package: "Stranger"),
                .product(name: "Wrapper", package: "Wrapper"),
            ]
        ),
        // The one target that depends on the product; the others depend on it, and import Security too.
        .target(
            name: "Keychain",
            dependencies: [
                .product(
                    name: "LocalAuthentication",
                    package: "keychaind",
                    moduleAliases: [
                        "LocalAuthentication": "KeychainLocalAuthentication", "Security": "KeychainSecurity",
                    ],
                    condition: .when(platforms: [.linux])
                )
            ]
        ),
        .target(name: "Configuration"),
        .target(name: "DBus"),
        .target(name: "Examples"),
        .target(name: "Gcrypt"),
        .target(name: "Notes"),
        .target(name: "TestSupport"),
        .target(name: "Vault"),
        .testTarget(name: "AppTests", dependencies: ["App", "Keychain"]),
    ]
)
