"""A plan: what is compared, on what, how often and by which tests, written down before anything is run."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from material_agent.actors.models import LLMSettings
from material_agent.config import RunConfig
from material_agent.errors import BadInput
from material_agent.experiments.outcomes import OUTCOMES

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*\Z")
_SET_BY_US = ("reference", "out", "seed", "truth", "step_resolution", "report_resolution", "artifacts", "jobs")
_BUNDLED = "plans"


class Level(BaseModel):
    """One level of a factor, or one arm: settings of `RunConfig`, and who acts.

    `label`: in words. `actor`, `reflector`: instead of the plan's. `stream`: units of one stream share their seeds; two
    arms of different streams are compared without common random numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = ""
    run: dict[str, Any] = {}
    actor: str = ""
    reflector: str = ""
    stream: int = Field(default=0, ge=0)


class Test(BaseModel):
    """One comparison: `measure` of level or arm `to` minus that of `versus`, paired by reference and seed.

    `factor`: whose levels they are, empty for arms. `within` keeps to these levels of other factors. `moderator`: a
    factor of two levels; the test is then of the difference between the differences at its second and its first level.
    `primary` tests form the family that decides the claims; all others are exploratory, a family of their own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    claim: str
    measure: str
    versus: str
    to: str
    factor: str = ""
    within: dict[str, str] = {}
    moderator: str = ""
    primary: bool = False

    @field_validator("measure")
    @classmethod
    def _known(cls, measure: str) -> str:
        if measure not in OUTCOMES:
            raise ValueError(f"expected a measure, got {measure!r}; known: {', '.join(OUTCOMES)}")
        return measure


class Statistics(BaseModel):
    """How certain is certain enough: `alpha` of a family, and the number of bootstrap and permutation resamples."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alpha: float = Field(default=0.05, gt=0, lt=1)
    resamples: int = Field(default=4000, ge=100)


class Search(BaseModel):
    """Of a plan that looks for the best context: successive halving over arms.

    `development`, `held_out`: references; `budget`: runs on the development split at most; `keep`: share of the arms
    that survives a rung.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    development: tuple[str, ...] = Field(min_length=1)
    held_out: tuple[str, ...] = Field(min_length=1)
    budget: int = Field(gt=0)
    keep: float = Field(default=0.5, gt=0, lt=1)
    measure: str = "reward"


class PlanFile(BaseModel):
    """The content of a plan file; see docs/experiments.md.

    `oracle`, `editability`: whether they are measured after each run, which takes about as long as two renders of an
    attempt and a dozen small ones. `truth_accept`: the oracle's level, by default that of the runs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    question: str
    references: tuple[str, ...] = Field(default=(), max_length=10_000)
    seeds: int = Field(default=1, ge=1, le=1000)
    seed: int = Field(default=0, ge=0)
    side: int = Field(default=96, ge=32, le=4096)
    actors: tuple[str, ...] = ("builtin",)
    reflector: str = ""
    models: dict[str, Any] = {}
    truth_accept: float | None = Field(default=None, gt=0, lt=1)
    oracle: bool = True
    editability: bool = True
    run: dict[str, Any] = {}
    factors: dict[str, dict[str, Level]] = {}
    arms: dict[str, Level] = {}
    tests: tuple[Test, ...] = ()
    statistics: Statistics = Statistics()
    search: Search | None = None
    notes: str = ""

    @model_validator(mode="after")
    def _whole(self) -> PlanFile:
        if bool(self.factors) == bool(self.arms):
            raise ValueError("expected either factors or arms")
        if not self.references and self.search is None:
            raise ValueError("expected references")
        names = [self.name, *self.factors, *self.arms, *(level for levels in self.factors.values() for level in levels)]
        bad = [name for name in names if not _NAME.match(name)]
        if bad:
            raise ValueError(f"expected names of lower-case letters, digits and underscores, got {', '.join(bad)}")
        for test in self.tests:
            self._check(test)
        return self

    def _check(self, test: Test) -> None:
        levels = self.factors.get(test.factor, {}) if test.factor else self.arms
        missing = [name for name in (test.versus, test.to) if name not in levels]
        for name, level in test.within.items():
            missing += [] if level in self.factors.get(name, {}) else [f"{name}.{level}"]
        if test.moderator and len(self.factors.get(test.moderator, {})) != 2:
            missing.append(f"{test.moderator} of two levels")
        if missing:
            raise ValueError(f"test {test.id}: expected levels of the plan, got {', '.join(missing)}")


@dataclass(frozen=True)
class Arm:
    """One condition: its levels by factor (or its own name), the run's settings and who acts.

    `group`: the plan's actor that it belongs to; only arms of one group are compared.
    """

    id: str
    levels: Mapping[str, str]
    label: str
    run: Mapping[str, Any]
    actor: str
    reflector: str
    stream: int = 0
    group: str = ""


@dataclass(frozen=True)
class Plan:
    """A plan that was read: `arms` written out, `sha256` of its content, `folder` that its files are relative to."""

    file: PlanFile
    arms: tuple[Arm, ...]
    sha256: str
    folder: Path
    models: LLMSettings = field(default_factory=LLMSettings)

    @property
    def attempts(self) -> int:
        """The most attempts that any arm may make."""
        return max(self.config(arm).attempts for arm in self.arms)

    def config(self, arm: Arm, **given: Any) -> RunConfig:
        """The settings of one run of an arm; `given` are those that belong to the unit."""
        side = self.file.side
        fixed = {"step_resolution": side, "report_resolution": side, "artifacts": "figures"}
        base: dict[str, Any] = {"reference": "", "out": Path(), "truth": "unknown", **arm.run, **fixed, **given}
        return RunConfig.model_validate(base)


def bundled_plans() -> tuple[str, ...]:
    """Names of the plans that ship with the package."""
    folder = files("material_agent.experiments").joinpath(_BUNDLED)
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))


def load_plan(where: str) -> Plan:
    """Read a plan from a TOML file, or a bundled one by name. Raises `BadInput` naming the place."""
    path = Path(where)
    if not path.is_file() and where in bundled_plans():
        path = Path(str(files("material_agent.experiments").joinpath(f"{_BUNDLED}/{where}.toml")))
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(bundled_plans())
        raise BadInput(f"expected a plan file or a bundled plan, got {where!r}; known: {known}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"expected a plan as TOML, got {where}: {error}") from error
    return plan_from(data, path.parent, where)


def plan_from(data: Mapping[str, Any], folder: Path = Path(), where: str = "plan") -> Plan:
    """A plan from parsed TOML. Raises `BadInput`."""
    try:
        file = PlanFile.model_validate(data)
        said = file.model_dump(mode="json", exclude_defaults=True)  # what is not said keeps its meaning
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
        plan = Plan(file, _arms(file), digest, folder.absolute(), LLMSettings(**file.models))
        for arm in plan.arms:
            taken = [name for name in _SET_BY_US if name in arm.run]
            if taken:
                raise BadInput(f"expected {', '.join(taken)} to be left to the plan's runner, got it in {where}")
            plan.config(arm)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "its top"
        raise BadInput(f"expected a plan in {where}, got at {place}: {first['msg']}") from error
    except TypeError as error:
        raise BadInput(f"expected settings of a model in {where}: models, got {error}") from error
    return plan


def _arms(file: PlanFile) -> tuple[Arm, ...]:
    if file.arms:
        chosen = [({"arm": name}, [level]) for name, level in file.arms.items()]
    else:
        factors = [[(factor, name, level) for name, level in levels.items()] for factor, levels in file.factors.items()]
        chosen = [
            ({factor: name for factor, name, _ in combination}, [level for _, _, level in combination])
            for combination in itertools.product(*factors)
        ]
    arms = []
    for actor in file.actors:
        for names, levels in chosen:
            run: dict[str, Any] = dict(file.run)
            for level in levels:
                run = merged(run, level.run)
            own = next((level.actor for level in levels if level.actor), actor)
            prefix = f"{_slug(actor)}-" if len(file.actors) > 1 else ""
            arms.append(
                Arm(
                    prefix + "-".join(names.values()),
                    {**names, "actor": own},
                    ", ".join(level.label or name for level, name in zip(levels, names.values(), strict=True)),
                    run,
                    own,
                    next((level.reflector for level in levels if level.reflector), file.reflector),
                    max(level.stream for level in levels),
                    actor,
                )
            )
    return tuple(arms)


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with those of `other` put over them, tables within tables too."""
    whole = dict(one)
    for name, value in other.items():
        before = whole.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        whole[name] = merged(before, value) if both and isinstance(before, Mapping) else value
    return whole


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", Path(text).stem.lower()).strip("_")
