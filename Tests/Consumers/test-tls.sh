# shellcheck shell=bash disable=SC1091,SC2154
# A client with an identity of the keychain: swift-certificates makes the request, swift-nio-ssl connects; by version.
source "$scripts/consumers.sh"

consumer TLS
cd "$work" || exit

# An authority, and a server that demands a certificate of it.
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=Authority
}
server_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.pem \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost
}
check "openssl makes an authority" authority
check "openssl makes a server's certificate" server_certificate
"$program" request >request.pem
check "openssl accepts the request, signed in the daemon" openssl req -in request.pem -verify -noout
check "openssl issues the certificate" openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial \
    -out client.pem
check "the certificate is stored" "$program" store client.pem

openssl s_server -accept 0 -naccept 1 -www -cert server.pem -key server.key -CAfile ca.pem -Verify 1 \
    -verify_return_error >server.log 2>&1 &
server=$!
has_port() { grep -q '^ACCEPT .*:[0-9]' server.log; }
eventually has_port
port=$(sed -n 's/^ACCEPT .*://p' server.log)
"$program" connect "$port" server.pem >page || true
check_match "openssl s_server accepts the identity" "$(<page)" 'Verify return code: 0 \(ok\)'
check_match "it is that of the keychain" "$(<page)" 'CN ?= ?anna'
eventually has_ended "$server" || kill "$server"
