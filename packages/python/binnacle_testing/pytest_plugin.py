"""Fixtures for pytest: one server for the test run, and a fork for each test."""

import pytest

from . import start


@pytest.fixture(scope="session")
def binnacle_server():
    with start() as server:
        yield server


@pytest.fixture(scope="session")
def binnacle_base(binnacle_server):
    """The cluster that tests get forks of. Override it to install definitions once."""
    return binnacle_server.first


@pytest.fixture
def cluster(binnacle_base):
    fork = binnacle_base.fork()
    yield fork
    fork.close()


@pytest.fixture
def kubernetes_client(cluster):
    client = cluster.kubernetes_client()
    yield client
    client.close()
