"""The requests of the shared fixture, from a client that knows nothing of the other one."""

import json
import sys
import urllib.parse
import urllib.request

base, key, ids = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def call(method, path, body=None, idempotency_key=None):
    request = urllib.request.Request(f"{base}/nexustrade/{path}", method=method)
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Accept", "*/*")
    if body is not None:
        # The same JSON as JavaScript writes: no spaces, and text as it is.
        request.data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        request.add_header("Content-Type", "application/json")
    if idempotency_key is not None:
        request.add_header("Idempotency-Key", idempotency_key)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def encode(text):
    return urllib.parse.quote(text, safe="~")


call("POST", "agents", {"prompt": "Grüße 😀", "maxIterations": 3}, "key-1")
for run in ids:
    path = f"agents/{encode(run)}"
    call("GET", path)
    call("GET", f"{path}/events?limit=50&cursor={encode('c/1+=')}")
    call("GET", path)
    call("POST", f"{path}/approve", {}, "key-2")
    call("POST", f"{path}/messages", {"content": "go on"}, "key-3")
