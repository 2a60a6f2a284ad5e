"""The suite in Python: see the README beside this folder. SUITE_PEER names the programs of a real kube-apiserver."""

import json
import os
import pathlib
import subprocess
import threading
import time

import kubernetes
import pytest
import urllib3

urllib3.disable_warnings()
pytest_plugins = ["binnacle_testing.pytest_plugin"]
GROUP = ("suites.example.com", "v1", "default", "widgets")
HERE = pathlib.Path(__file__).parent
DEFINITION = json.loads((HERE.parent / "widgets.json").read_text())


def eventually(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition does not hold within 20 s"
        time.sleep(0.005)


def install(api):
    """Creates the definition and waits until the kind is served."""
    kubernetes.client.ApiextensionsV1Api(api).create_custom_resource_definition(DEFINITION)
    custom = kubernetes.client.CustomObjectsApi(api)

    def served():
        try:
            return custom.list_namespaced_custom_object(*GROUP) is not None
        except kubernetes.client.ApiException:
            return False

    eventually(served)


class Controller:
    def __init__(self, api):
        self.core = kubernetes.client.CoreV1Api(api)
        self.custom = kubernetes.client.CustomObjectsApi(api)
        self.stopped = False
        self.changed = threading.Event()
        self.threads = [
            threading.Thread(target=self.watch, args=(self.custom.list_namespaced_custom_object, GROUP)),
            threading.Thread(target=self.watch, args=(self.core.list_namespaced_config_map, ("default",))),
            threading.Thread(target=self.work),
        ]
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def watch(self, read, args):
        while not self.stopped:
            try:
                for _ in kubernetes.watch.Watch().stream(read, *args, timeout_seconds=5):
                    self.changed.set()
                    if self.stopped:
                        return
            except Exception:
                time.sleep(0.05)

    def work(self):
        while not self.stopped:
            if not self.changed.wait(0.1):
                continue
            self.changed.clear()
            try:
                for widget in self.custom.list_namespaced_custom_object(*GROUP)["items"]:
                    self.reconcile(widget)
            except kubernetes.client.ApiException:
                self.changed.set()

    def reconcile(self, widget):
        name, size = widget["metadata"]["name"], widget["spec"].get("size", 0)
        selector = "widget=" + name
        found = self.core.list_namespaced_config_map("default", label_selector=selector).items
        names = {child.metadata.name for child in found}
        wanted = {"%s-%d" % (name, i) for i in range(size)}
        for missing in wanted - names:
            metadata = {"name": missing, "labels": {"widget": name}}
            self.core.create_namespaced_config_map("default", {"metadata": metadata, "data": {"of": name}})
        for surplus in names - wanted:
            self.core.delete_namespaced_config_map(surplus, "default")
        for child in found:
            if child.metadata.name in wanted and child.data != {"of": name}:
                child.data = {"of": name}
                self.core.replace_namespaced_config_map(child.metadata.name, "default", child)
        if widget.get("status", {}).get("children") != size:
            widget["status"] = {"children": size}
            self.custom.replace_namespaced_custom_object_status(*GROUP, name, widget)

    def stop(self):
        self.stopped = True


if os.environ.get("SUITE_PEER"):

    @pytest.fixture
    def api(tmp_path):
        command = [os.environ["SUITE_NODE"], str(HERE.parent / "peer-server.ts"), os.environ["SUITE_PEER"]]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        address = json.loads(server.stdout.readline())
        made = kubernetes.config.new_client_from_config_dict(json.loads(address["kubeconfig"]))
        install(made)
        yield made
        server.stdin.close()
        server.wait()

else:

    @pytest.fixture(scope="session")
    def binnacle_base(binnacle_server):
        install(binnacle_server.first.kubernetes_client())
        return binnacle_server.first

    @pytest.fixture
    def api(kubernetes_client):
        return kubernetes_client


@pytest.fixture
def scene(api):
    controller = Controller(api)
    yield Scene(api)
    controller.stop()


class Scene:
    def __init__(self, api):
        self.core = kubernetes.client.CoreV1Api(api)
        self.custom = kubernetes.client.CustomObjectsApi(api)

    def create(self, name, size):
        body = {"apiVersion": "suites.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}}
        return self.custom.create_namespaced_custom_object(*GROUP, body)

    def resize(self, name, size):
        self.custom.patch_namespaced_custom_object(*GROUP, name, {"spec": {"size": size}})

    def children(self, name):
        return self.core.list_namespaced_config_map("default", label_selector="widget=" + name).items

    def status(self, name):
        return self.custom.get_namespaced_custom_object(*GROUP, name).get("status", {}).get("children")


def test_creates_children(scene):
    scene.create("a", 3)
    eventually(lambda: len(scene.children("a")) == 3)


def test_counts_children(scene):
    scene.create("a", 2)
    eventually(lambda: scene.status("a") == 2)


def test_grows(scene):
    scene.create("a", 1)
    eventually(lambda: scene.status("a") == 1)
    scene.resize("a", 4)
    eventually(lambda: len(scene.children("a")) == 4)


def test_shrinks(scene):
    scene.create("a", 3)
    eventually(lambda: scene.status("a") == 3)
    scene.resize("a", 1)
    eventually(lambda: len(scene.children("a")) == 1)


def test_replaces_a_deleted_child(scene):
    scene.create("a", 2)
    eventually(lambda: len(scene.children("a")) == 2)
    scene.core.delete_namespaced_config_map("a-0", "default")
    eventually(lambda: len(scene.children("a")) == 2)


def test_repairs_a_changed_child(scene):
    scene.create("a", 1)
    eventually(lambda: len(scene.children("a")) == 1)
    scene.core.patch_namespaced_config_map("a-0", "default", {"data": {"of": "b"}})
    eventually(lambda: scene.children("a")[0].data == {"of": "a"})


def test_keeps_widgets_apart(scene):
    scene.create("a", 1)
    scene.create("b", 2)
    eventually(lambda: scene.status("a") == 1 and scene.status("b") == 2)
    assert len(scene.children("b")) == 2


def test_refuses_too_many(scene):
    with pytest.raises(kubernetes.client.ApiException) as refused:
        scene.create("a", 6)
    assert refused.value.status == 422
