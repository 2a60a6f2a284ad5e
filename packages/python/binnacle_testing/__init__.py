"""Clusters for tests: starts `binnacle test-server` and calls its control API."""

import json
import os
import shlex
import ssl
import subprocess
import urllib.error
import urllib.request

__all__ = ["Cluster", "ControlError", "Server", "start"]


class ControlError(Exception):
    """The server refused a request to its control API."""


class Server:
    """A running test server. `with start() as server:` closes it."""

    def __init__(self, process, address):
        self._process = process
        self._address = address
        self._context = ssl.create_default_context(cadata=address["certificateAuthority"])
        self.first = Cluster(self, self._call("GET", "/clusters/first"))

    def make(self, name=None, file=None):
        """A cluster as the server was at its start, or from the file of a snapshot."""
        return Cluster(self, self._call("POST", "/clusters", name=name, file=file))

    def clusters(self):
        return [Cluster(self, one) for one in self._call("GET", "/clusters")["clusters"]]

    def close(self):
        """Ends the server and every cluster. May be called again."""
        if self._process is None:
            return
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _call(self, method, path, **body):
        given = {key: value for key, value in body.items() if value is not None}
        request = urllib.request.Request(
            self._address["control"] + path,
            method=method,
            data=json.dumps(given).encode() if given else None,
            headers={"Authorization": "Bearer " + self._address["controlToken"]},
        )
        try:
            with urllib.request.urlopen(request, context=self._context) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise ControlError(json.load(error)["error"]) from None


class Cluster:
    """One cluster: objects, definitions, roles, tokens and time of its own."""

    def __init__(self, server, described):
        self._server = server
        self.name = described["name"]
        self.url = described["url"]
        self.token = described["token"]
        #: A kubeconfig as text.
        self.kubeconfig = described["kubeconfig"]

    def fork(self, name=None):
        """A copy of this cluster as it is now."""
        return Cluster(self._server, self._call("POST", "/fork", name=name))

    def reset(self):
        """Sets the cluster back to its beginning."""
        self._call("POST", "/reset")

    def snapshot(self, file=None):
        """Keeps the state: returns the name of the snapshot, or writes the file."""
        kept = self._call("POST", "/snapshot", file=file)
        return kept.get("snapshot", file)

    def restore(self, snapshot=None, file=None):
        self._call("POST", "/restore", snapshot=snapshot, file=file)

    def fault(self, action, match=None):
        """Adds a fault rule and returns its number."""
        return self._call("POST", "/faults", action=action, match=match)["rule"]

    def faults(self):
        """The faults that were injected, oldest first."""
        return self._call("GET", "/faults")["injected"]

    def clear_faults(self):
        self._call("DELETE", "/faults")

    def store(self, fail=None, slow_ms=None, compact=None):
        """`fail`: "full", "unavailable" or "none"."""
        self._call("POST", "/store", fail=fail, slowMs=slow_ms, compact=compact)

    def freeze(self, at=True):
        """Stops the time, at once or at a moment such as "2026-01-01T00:00:00Z"."""
        return self._call("POST", "/clock", freeze=at)["time"]

    def advance(self, duration):
        """Moves the time forward: "90s", "1h30m", "2d"."""
        return self._call("POST", "/clock", advance=duration)["time"]

    def resume(self):
        return self._call("POST", "/clock", resume=True)["time"]

    def requests(self):
        """The requests that the cluster received, oldest first."""
        return self._call("GET", "/requests")["requests"]

    def close(self):
        self._call("DELETE", "")

    def kubernetes_client(self):
        """An ApiClient of the package `kubernetes`."""
        from kubernetes import config

        return config.new_client_from_config_dict(json.loads(self.kubeconfig))

    def _call(self, method, path, **body):
        return self._server._call(method, "/clusters/" + self.name + path, **body)


def start(command=None, flags=()):
    """Starts a server. `command` is that of Binnacle: a text or a list."""
    command = command or os.environ.get("BINNACLE", "binnacle")
    words = shlex.split(command) if isinstance(command, str) else list(command)
    try:
        process = subprocess.Popen(
            [*words, "test-server", "--exit-with=stdin", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except FileNotFoundError:
        raise RuntimeError(
            "there is no command %s: install Binnacle, or set BINNACLE to its command" % words[0]
        ) from None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("%s ended with status %s" % (" ".join(words), process.wait()))
    return Server(process, json.loads(line))
