"""What to install for the packages that only some functions need."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from sys import _getframe

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


class Missing:
    """The last finder of modules, asked for those that no other found: it says what this package needs them for.

    Imports stay where they are used, and each ends with one line if the package is not installed.
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Nothing; an error if a module of this package imports one of those listed."""
        if name not in PACKAGES:
            return None
        frame = _getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__") in IMPORTING:
            frame = frame.f_back
        if not str(frame.f_globals.get("__name__")).startswith("congruence."):
            return None
        from congruence.errors import NotInstalled

        raise NotInstalled(f"this needs {name}, which is not installed: pip install {PACKAGES[name]}")


if not any(isinstance(finder, Missing) for finder in sys.meta_path):
    sys.meta_path.append(Missing())
