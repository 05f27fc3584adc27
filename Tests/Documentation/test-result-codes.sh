# shellcheck shell=bash disable=SC2154
# The declarations of Apple's result codes match the table.

scripts/result-codes constants >"$work/constants.swift"
check_match "the table has codes" "$(grep -c 'public let errSec' "$work/constants.swift")" '^[1-9]'
check "the constants match (otherwise run scripts/result-codes constants >Sources/Security/Errors/ResultCodes+Constants.swift)" \
    diff "$work/constants.swift" Sources/Security/Errors/ResultCodes+Constants.swift
