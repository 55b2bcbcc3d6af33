"""A page that hosts the widget's own module without a notebook: the model in the page talks to the widget over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import claimeven.widget
from claimeven.widget import BoardWidget

STATE = ["moves", "show_values", "rows", "cols", "cells", "won", "values", "message", "description"]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The widget</title><style>%s</style>
<body><div id="widget"></div>
<script type="module">
import widget from "/widget.js";
let state = await (await fetch("/state")).json();
const listeners = new Map();
const unsaved = {};
async function post(path, body) {
  const old = state;
  state = await (await fetch(path, { method: "POST", body: JSON.stringify(body) })).json();
  for (const name of Object.keys(state)) {
    if (JSON.stringify(old[name]) !== JSON.stringify(state[name])) listeners.get(`change:${name}`)?.forEach((call) => call());
  }
}
const model = {
  get: (name) => state[name],
  set: (name, value) => (unsaved[name] = value),
  save_changes: () => post("/traits", unsaved),
  send: (content) => post("/message", content),
  on: (name, call) => listeners.set(name, [...(listeners.get(name) ?? []), call]),
  off: (name, call) => listeners.set(name, (listeners.get(name) ?? []).filter((other) => other !== call)),
};
widget.render({ model, el: document.getElementById("widget") });
</script></body></html>"""


@contextmanager
def hosted(widget: BoardWidget) -> Iterator[str]:
    """The address of a page with the widget."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/widget.js":
                script = Path(claimeven.widget.__file__).parent / "widget.js"
                self._answer("text/javascript", script.read_text())
            elif self.path == "/state":
                self._answer_state()
            else:
                self._answer("text/html", PAGE % claimeven.widget._CSS)

        def do_POST(self) -> None:
            content: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/message":
                widget._receive(None, content, None)
            else:
                widget.set_trait("show_values", content["show_values"])
            self._answer_state()

        def _answer_state(self) -> None:
            self._answer("application/json", json.dumps({name: getattr(widget, name) for name in STATE}))

        def _answer(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
