# shellcheck shell=bash disable=SC2154
# All cases of the tests that otherwise run a sample of them.

check "every kill, random call, damaged byte and torn journal" \
    env EVERY=1 scripts/test VaultTests KeychaindTests SecretServiceTests \
    --filter 'DamagedPagesTests|JournalEndTests|DurabilityTests|HostileClientTests'
