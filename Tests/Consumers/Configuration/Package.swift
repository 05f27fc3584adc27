// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Configuration",
    dependencies: [
        .package(url: "https://example.org/keychaind.git", from: "0.1.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Configuration", package: "swift-configuration"),
                .product(
                    name: "Security",
                    package: "keychaind",
                    moduleAliases: ["Security": "KeychainSecurity"],
                    condition: .when(platforms: [.linux])
                ),
            ]
        )
    ]
)
