// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "Passwords",
    // Without traits: no keys and certificates, and none of the packages that only these and the programs need.
    dependencies: [.package(path: "../keychaind", traits: [])],
    targets: [
        .executableTarget(
            name: "App",
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
        )
    ]
)
