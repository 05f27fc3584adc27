// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "JWT",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://example.org/keychaind.git", from: "0.1.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.0.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.0.0"..<"5.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
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
