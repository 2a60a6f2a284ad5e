import pytest
from binnacle_testing import ControlError, start
from kubernetes import client
from kubernetes.client.exceptions import ApiException

pytest_plugins = ["binnacle_testing.pytest_plugin"]


def names(core):
    listed = core.list_namespaced_config_map("default").items
    return [item.metadata.name for item in listed if item.metadata.name != "kube-root-ca.crt"]


@pytest.mark.parametrize("name", ["a", "b"])
def test_each_test_has_a_fork_of_its_own(kubernetes_client, name):
    core = client.CoreV1Api(kubernetes_client)
    assert names(core) == []
    core.create_namespaced_config_map("default", {"metadata": {"name": name}})
    assert names(core) == [name]


def test_fork_reset_and_snapshots(cluster, kubernetes_client, tmp_path):
    core = client.CoreV1Api(kubernetes_client)
    core.create_namespaced_config_map("default", {"metadata": {"name": "kept"}})
    kept = cluster.snapshot()
    path = str(tmp_path / "state")
    assert cluster.snapshot(file=path) == path
    fork = cluster.fork()
    assert names(client.CoreV1Api(fork.kubernetes_client())) == ["kept"]
    core.create_namespaced_config_map("default", {"metadata": {"name": "lost"}})
    cluster.restore(kept)
    assert names(core) == ["kept"]
    cluster.reset()
    assert names(core) == []
    cluster.restore(file=path)
    assert names(core) == ["kept"]
    fork.close()


def test_faults_and_requests(cluster, kubernetes_client):
    core = client.CoreV1Api(kubernetes_client)
    match = {"verb": "create", "resource": "configmaps", "times": 1}
    rule = cluster.fault({"error": {"code": 409}}, match)
    with pytest.raises(ApiException) as refused:
        core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    assert refused.value.status == 409
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    assert [one["rule"] for one in cluster.faults()] == [rule]
    assert [one["status"] for one in cluster.requests()] == [409, 201]
    cluster.store(fail="full")
    with pytest.raises(ApiException):
        core.create_namespaced_config_map("default", {"metadata": {"name": "b"}})
    cluster.store(fail="none")


def test_time(cluster, kubernetes_client):
    core = client.CoreV1Api(kubernetes_client)
    cluster.freeze("2031-01-01T00:00:00Z")
    cluster.advance("1d")
    made = core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    assert made.metadata.creation_timestamp.isoformat() == "2031-01-02T00:00:00+00:00"
    with pytest.raises(ControlError, match="is no duration"):
        cluster.advance("soon")


def test_without_the_command():
    with pytest.raises(RuntimeError, match="set BINNACLE to its command"):
        start("no-such-binnacle")
