// swift-tools-version: 6.2

import PackageDescription

// The folder of this repository, by whose name SwiftPM knows the package; in a package of yours, "keychaind".
let keychaind = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "")

// Sources say `import Security`; the module gets a name that no other package tests for (docs/swift.md).
let security = Target.Dependency.product(
    name: "Security",
    package: keychaind,
    moduleAliases: ["Security": "KeychainSecurity"]
)
let localAuthentication = Target.Dependency.product(
    name: "LocalAuthentication",
    package: keychaind,
    moduleAliases: ["Security": "KeychainSecurity", "LocalAuthentication": "KeychainLocalAuthentication"]
)

// .ci/run sets this variable.
let settings: [SwiftSetting] = Context.environment["KEYCHAIND_CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Examples",
    dependencies: [.package(path: "..")],
    targets: [
        .executableTarget(
            name: "Credentials",
            dependencies: [localAuthentication],
            path: "Credentials",
            exclude: ["README.md"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FromOtherLanguages",
            dependencies: [security],
            path: "FromOtherLanguages",
            exclude: [
                "README.md", "everyone.sh", "with_libsecret.py", "with_secret_tool.sh", "with_secretstorage.py",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "KeychainWrapper",
            dependencies: [security],
            path: "KeychainWrapper",
            exclude: ["README.md"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Notes",
            dependencies: [localAuthentication],
            path: "Notes",
            exclude: ["README.md"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
