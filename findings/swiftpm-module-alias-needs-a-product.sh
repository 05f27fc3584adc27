#!/bin/bash
# SwiftPM 6.3.1 applies a module alias of a target only where the target is reached through a product.
#
# Seen with swift-log 1.16.2, whose module Logging gets the alias OtherLogging: a package of one library target builds
# without the alias and without a warning. If a test target depends on that target and on another one above it, the
# build ends with "no such module 'Logging'". Both work once the target is in a library product of its package.
set -euo pipefail

[[ $(swift --version 2>/dev/null) == *"Swift version 6.3.1 "* ]] || { echo "this needs Swift 6.3.1" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build NAME PRODUCTS TARGETS: builds a package, and prints the names of the modules of swift-log, or the error.
build() {
    mkdir -p "$work/$1/Sources/Base" "$work/$1/Sources/Middle" "$work/$1/Tests/UpperTests"
    cat >"$work/$1/Package.swift" <<SWIFT
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "$1",
    products: [$2],
    dependencies: [.package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2")],
    targets: [
        .target(
            name: "Base",
            dependencies: [.product(name: "Logging", package: "swift-log", moduleAliases: ["Logging": "OtherLogging"])]
        ),
        $3
    ]
)
SWIFT
    echo 'import Logging' >"$work/$1/Sources/Base/Base.swift"
    echo 'import Base' >"$work/$1/Sources/Middle/Middle.swift"
    printf 'import Base\nimport Middle\n' >"$work/$1/Tests/UpperTests/Upper.swift"
    if swift build --build-tests --package-path "$work/$1" --scratch-path "$work/$1/build" >"$work/$1/log" 2>&1; then
        find "$work/$1/build/" -name '*Logging.swiftmodule' -printf '%f\n' | sort -u
    else
        grep -o "no such module 'Logging'" "$work/$1/log" | sort -u
    fi
}

product='.library(name: "Base", targets: ["Base"])'
layers='.target(name: "Middle", dependencies: ["Base"]),
        .testTarget(name: "UpperTests", dependencies: ["Middle", "Base"])'
found=$(
    echo "one target: $(build one '' '')"
    echo "one target in a product: $(build one-product "$product" '')"
    echo "layers: $(build layers '' "$layers")"
    echo "layers, the lowest in a product: $(build layers-product "$product" "$layers")"
)
echo "$found"
[[ $found == "one target: Logging.swiftmodule
one target in a product: OtherLogging.swiftmodule
layers: no such module 'Logging'
layers, the lowest in a product: OtherLogging.swiftmodule" ]]
