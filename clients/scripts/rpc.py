"""A node that is started, asked over one connection, and stopped."""

import http.client
import json
import subprocess
import time


class Node:
    def __init__(self, words, port):
        self.child = subprocess.Popen([*words, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port, self.connection = port, None
        for _ in range(200):
            try:
                self.ask("eth_chainId")
                return
            except OSError:
                self.connection = None
                time.sleep(0.05)
        raise SystemExit(f"{words[0]} does not answer")

    def send(self, body):
        self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        self.connection.request("POST", "/", json.dumps(body), {"content-type": "application/json"})
        return json.load(self.connection.getresponse())

    def ask(self, method, *params):
        answer = self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in answer:
            raise ValueError(f"{method}: {answer['error']}")
        return answer["result"]

    def batch(self, requests):
        body = [{"jsonrpc": "2.0", "id": at, "method": method, "params": params} for at, (method, *params) in enumerate(requests)]
        return self.send(body)

    def stop(self):
        self.child.terminate()
        self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
