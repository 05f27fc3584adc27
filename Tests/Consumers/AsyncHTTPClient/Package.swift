// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "AsyncHTTPClient",
    dependencies: [
        .package(url: "https://example.org/keychaind.git", from: "0.1.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.20.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
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
