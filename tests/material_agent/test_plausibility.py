"""What the cues of a reference call for."""

from material_agent.plausibility import varying_channels
from references import analyze, load_reference


def called(name):
    return dict(varying_channels(analyze(load_reference(name))))


def test_joints_call_for_relief_and_smooth_stuff_for_nothing():
    assert "recessed" in called("brick_wall")["height"]
    assert "roughness" in called("brick_wall")
    assert set(called("cracks_mud")) == {"height"}
    assert called("wood_grain") == called("marble_veins") == {}
