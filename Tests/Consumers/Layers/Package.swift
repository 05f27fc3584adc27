// swift-tools-version: 6.1

import PackageDescription

// Libraries alone, one upon the other, and tests that use both.
let package = Package(
    name: "Layers",
    products: [.library(name: "Base", targets: ["Base"])],
    dependencies: [.package(path: "../keychaind", traits: [])],
    targets: [
        .target(
            name: "Base",
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
        .target(name: "Middle", dependencies: ["Base"]),
        .testTarget(name: "UpperTests", dependencies: ["Middle", "Base"]),
    ]
)
