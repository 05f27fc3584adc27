// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "GRPC",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://example.org/keychaind.git", from: "0.1.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.0.0"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
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
