# cookies.py FILE: a server that gives each browser a cookie and shows the one that it sent. Writes its port to FILE.
import http.server
import os
import secrets
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        sent = self.headers.get("Cookie", "")
        self.send_response(200)
        if "proof=" not in sent:
            self.send_header("Set-Cookie", f"proof={secrets.token_hex(8)}; Max-Age=31536000; Path=/")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<p>cookie:{sent.removeprefix('proof=')}</p>".encode())

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 8765), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
