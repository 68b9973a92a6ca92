"""A guard that changes the field To.

guard.py STYLE lines|http FIELDS

STYLE is echo (it sends the payload back), build (it builds an object of the
fields that it knows, the comma-separated FIELDS) or patch.
"""

import http.server
import json
import sys

style, transport, fields = sys.argv[1:4]


def decide(payload):
    if style == "patch":
        return {"decision": "patch", "value": {"To": "changed"}}
    if style == "build":
        payload = {f: payload[f] for f in fields.split(",") if f in payload}
    return {"decision": "replace", "value": {**payload, "To": "changed"}}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(decide(request["payload"])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args):
        pass


if transport == "http":
    server = http.server.HTTPServer(("localhost", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **decide(request["payload"])}), flush=True)
