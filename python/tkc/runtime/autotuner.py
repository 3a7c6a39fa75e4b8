"""triton.runtime.autotuner: configurations, and what chooses among them."""
from .._tune import Autotuner, Config, Heuristics, autotune, heuristics
from .errors import OutOfResources, PTXASError

__all__ = ["Autotuner", "Config", "Heuristics", "OutOfResources", "PTXASError", "autotune", "heuristics"]
