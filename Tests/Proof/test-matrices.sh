# shellcheck shell=bash disable=SC2154
# All cases of the tests that otherwise run a sample of them.

check "every kill, random call, damaged byte, torn commit, failed read and size of a secret" \
    env EVERY=1 scripts/test LogTests VaultTests KeychaindTests SecretServiceTests SecurityTests ForeignFilesTests Fuzzer
check "every kill of a switch" env EVERY=1 Tests/Scripts/run Packaging switch
