"""The same batch on two Ray nodes, one of which dies in the middle."""

from __future__ import annotations

import pytest
from batch_world import Ears, settings

from material_agent.batch import Listener, run_batch
from material_agent.batch.ray_engine import RayEngine

ray = pytest.importorskip("ray")
STORE_BYTES = 80 * 2**20


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes of one core each; the second is the one to lose."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    node = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    built = Cluster(initialize_head=True, head_node_args=node)
    try:
        other = built.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        ray.init(address=built.address, log_to_driver=False, logging_level="error")
        yield built, other
    finally:
        ray.shutdown()
        built.shutdown()


def test_a_node_that_dies_costs_time_and_nothing_else(cluster, finished, pictures, actor, tmp_path):
    built, other = cluster
    ears = Ears()

    class Kills(Listener):
        def ended(self, result):
            ears.ended(result)
            if len(ears.done) == 4:
                built.remove_node(other, allow_graceful=False)

    asked = settings([str(pictures)], (tmp_path / "out").as_uri(), actor)
    result = run_batch(asked, engine=RayEngine(), listener=Kills())
    local = finished[0]
    assert sorted(ears.done) == sorted(one.id for one in local.results)
    assert [one.id for one in result.results] == [one.id for one in local.results]
    assert [one.verdict for one in result.results] == [one.verdict for one in local.results]
    assert [one.reason for one in result.results if one.complete] == [x.reason for x in local.results if x.complete]
