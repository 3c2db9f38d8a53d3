"""Who judges a run: the committed evaluator, or the oracle that knows the graph behind the reference."""

from __future__ import annotations

import json
from pathlib import Path

from evaluators import Evaluator, Target
from graph_api import GraphError, load_graph
from graph_api.migrate import migrate
from graph_api.model import Graph
from material_agent.acceptance import Accepting
from material_agent.config import RunConfig
from material_agent.environment import Judge
from material_agent.errors import BadInput
from material_agent.oracle import Oracle
from material_agent.plausibility import varying_channels
from references.analysis import Analysis
from references.bundled import bundled
from renderer import Renderer, RenderSettings


def judge_of(
    config: RunConfig, target: Target, decomposition: Analysis, renderer: Renderer, resolution: int, version: str
) -> Judge:
    """The judge that `config` asks for. Raises `BadInput` for a truth that cannot be read."""
    judge: Judge
    if config.judge == "oracle":
        settings = RenderSettings(resolution=resolution, patch_size_m=config.patch_size_m)
        judge = Oracle(truth_graph(config.truth, version), renderer, settings=settings, network=config.network)
    else:
        judge = Evaluator(
            target,
            network=config.network,
            patch_size_m=config.patch_size_m,
            varying=varying_channels(decomposition),
        )
    return judge if config.accept_reward is None else Accepting(judge, config.accept_reward)


def truth_graph(truth: str, version: str) -> Graph:
    """The graph behind a bundled reference, or in a `.json`, for the catalog `version`. Raises `BadInput`."""
    known = {entry.id: entry.graph for entry in bundled()}
    path = known.get(truth, Path(truth))
    try:
        graph = load_graph(path.read_text(encoding="utf-8-sig")).graph
    except (OSError, GraphError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"expected the graph behind the reference, a bundled name or a graph .json, got {truth!r}: {error}"
        ) from error
    return migrate(graph, version).graph
