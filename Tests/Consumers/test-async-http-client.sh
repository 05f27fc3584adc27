# shellcheck shell=bash disable=SC1091,SC2154
# A client of a web service that keeps its token in the keychain, beside async-http-client; by version.
source "$scripts/consumers.sh"

consumer AsyncHTTPClient

# Answers with the authorization of the request.
cat >"$work/server.py" <<'PYTHON'
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = self.headers['Authorization'].encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass

server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.handle_request()
PYTHON
exec 3< <(python3 "$work/server.py")
read -r port <&3
check_equal "the server gets the token of the keychain" "$("$program" "http://127.0.0.1:$port/")" "Bearer correct horse"
