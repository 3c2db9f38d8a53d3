"""An attempt as a number and a picture: the memory that a reflection in words is compared with."""

from __future__ import annotations

import numpy as np

from evaluators.pictures import centre_square, resize_srgb
from material_agent.context import Feedback, Task
from material_agent.react import Attempt
from renderer.images import linear_to_srgb


def feedback_on(attempt: Attempt, task: Task) -> Feedback | None:
    """Reward and difference picture of the attempt's best render; None when nothing was judged."""
    best = attempt.best
    if best is None or "beauty" not in best.channels:
        return None
    seen = np.clip(linear_to_srgb(best.channels["beauty"]), 0.0, 1.0).astype(np.float32)
    wanted = resize_srgb(centre_square(task.image_srgb), seen.shape[0])
    return Feedback(best.evaluation.reward, np.asarray(seen - wanted, np.float32))
