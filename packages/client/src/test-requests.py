# What the code samples use of the package requests, from Python's own library: they also run where it is not installed.
import json as encoding
import urllib.parse
import urllib.request


class Answer:
    def __init__(self, body):
        self.body = body

    def raise_for_status(self):
        """An answer with an error raised when it came."""

    def json(self):
        return encoding.loads(self.body)


def get(url, headers=None, params=None, timeout=None):
    query = "?" + urllib.parse.urlencode(params) if params else ""
    return send(urllib.request.Request(url + query, headers=headers or {}), timeout)


def post(url, json=None, timeout=None):
    body = encoding.dumps(json).encode()
    return send(urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout)


def send(request, timeout):
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return Answer(answer.read())
