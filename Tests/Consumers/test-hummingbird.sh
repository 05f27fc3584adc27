# shellcheck shell=bash disable=SC1091,SC2154
# A web server whose password is in the keychain, beside Hummingbird; by version.
source "$scripts/consumers.sh"

consumer WebServer

exec 3< <(exec "$program")
server=$!
read -r port <&3
answer() { curl --silent --max-time 30 --output /dev/null --write-out '%{http_code}' --user "$1" "http://127.0.0.1:$port/"; }
check_equal "the server accepts the password of the keychain" "$(answer "anna:correct horse")" 200
check_equal "the server refuses another one" "$(answer "anna:wrong")" 401
kill "$server"
