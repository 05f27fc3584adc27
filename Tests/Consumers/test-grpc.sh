# shellcheck shell=bash disable=SC1091,SC2154
# A gRPC service that returns passwords, and its client, beside grpc-swift-2 and its transport; by version.
source "$scripts/consumers.sh"

consumer GRPC
check_equal "the client gets the password of the server's keychain" "$("$program")" "correct horse"
