"""Experiments: plans of arms, references and seeds, run on the batch engine, with tests and reports."""

from material_agent.experiments.plan import Plan, bundled_plans, load_plan
from material_agent.experiments.run import ExperimentResult, run_experiment

__all__ = ["ExperimentResult", "Plan", "bundled_plans", "load_plan", "run_experiment"]
