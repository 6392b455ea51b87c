"""What to install for the packages that only some functions need."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from sys import _getframe
from types import FrameType

#: name of a module → what to install
PACKAGES = {
    "numba": "numba", "sklearn": "scikit-learn", "joblib": "joblib", "scipy": "scipy", "pyarrow": "pyarrow",
    "narwhals": "narwhals", "jinja2": "jinja2", "plotly": '"congruence[plot]"', "matplotlib": '"congruence[plot]"',
}  # fmt: skip


#: modules whose functions import others; `importlib.util.find_spec`, which only asks, is not among them
IMPORTING = ("importlib", "importlib._bootstrap", "importlib._bootstrap_external")


def is_installed(name: str) -> bool:
    """Whether a module can be imported."""
    return name in sys.modules or find_spec(name) is not None


def _is_imported(frame: FrameType, who: str) -> bool:
    """Whether another package, such as scikit-learn, imports what it needs itself, now or when a name of it is asked for."""
    return frame.f_code.co_name in ("<module>", "__getattr__") and not who.startswith("congruence.")


class Missing:
    """The last finder of modules, asked for those that no other found: it says what this package needs them for.

    Imports stay where they are used, and each ends with one line if the package is not installed.
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Nothing; an error if a module of this package imports one of those listed."""
        if name not in PACKAGES:
            return None
        frame = _getframe(1)
        who = str(frame.f_globals.get("__name__"))
        while frame.f_back is not None and (who in IMPORTING or _is_imported(frame, who)):
            frame = frame.f_back
            who = str(frame.f_globals.get("__name__"))
        if not who.startswith("congruence."):
            return None
        from congruence.errors import NotInstalled

        raise NotInstalled(f"this needs {name}, which is not installed: pip install {PACKAGES[name]}")


if not any(isinstance(finder, Missing) for finder in sys.meta_path):
    sys.meta_path.append(Missing())
