// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "TLS",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://example.org/keychaind.git", from: "0.1.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.10.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.0.0"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
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
