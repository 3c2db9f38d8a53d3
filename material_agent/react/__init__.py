"""The inner loop (ReAct): one attempt."""

from material_agent.react.assemble import Brief, assemble
from material_agent.react.labels import Label, Trace, label_failure
from material_agent.react.loop import Attempt, Inner
from material_agent.react.stop import LoopWatch, Stop, StopRules

__all__ = ["Attempt", "Brief", "Inner", "Label", "LoopWatch", "Stop", "StopRules", "Trace", "assemble", "label_failure"]
