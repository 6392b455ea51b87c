"""Lasting names: an optimal assignment of clusters to the names of earlier steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

import numpy as np

from congruence.errors import unused_name
from congruence.formulas.matching import assignment
from congruence.inputs.steps import Step
from congruence.tracking.events import Groups
from congruence.tracking.overlaps import Overlap
from congruence.typing import Label

Naming = Literal["larger", "nested"]

#: a cluster that was absent comes back under its name if it holds half of either and a quarter of both
RETURN_EITHER, RETURN_BOTH = 0.5, 0.25


@dataclass
class Names:
    """The lasting names given so far.

    Attributes:
        naming: How the parts of a split are named.
        steps: For each step, the names of its clusters.
    """

    naming: Naming
    steps: list[tuple[Label, ...]]

    @property
    def used(self) -> set[Label]:
        """All names given so far."""
        return {name for names in self.steps for name in names}

    def _new(self, labels: Sequence[Label], taken: set[Label]) -> Iterator[Label]:
        """Names for new clusters: their own labels if these are texts and free, else the next free numbers or texts."""
        numbers = self.naming == "larger" and all(isinstance(x, int) and not isinstance(x, bool) for x in taken)
        largest = max([-1, *taken]) if numbers else None
        for label in labels:
            if largest is not None and isinstance(label, int) and not isinstance(label, bool):
                largest += 1
                name: Label = largest
            else:
                largest = None
                name = str(label) if str(label) not in taken else unused_name(str(label), taken)
            taken.add(name)
            yield name

    def go_on(
        self, steps: Sequence[Step], overlap: Overlap | None, found: Groups | None, own_points: bool = False
    ) -> None:
        """Name the clusters of the newest step; none comes back under its name if steps have their own points."""
        step = steps[-1]
        if overlap is None or found is None:
            self.steps.append(tuple(str(x) if self.naming == "nested" else x for x in step.clusters))
            return
        names: dict[int, Label] = {}
        last = self.steps[-1]
        for before, after in zip(overlap.row[found.single].tolist(), overlap.col[found.single].tolist(), strict=True):
            names[after] = last[before]
        for group in found.several:
            pairs = np.array(group.pairs)
            at_a = np.searchsorted(group.before, overlap.row[pairs])
            at_b = np.searchsorted(group.after, overlap.col[pairs])
            best = assignment(at_a, at_b, overlap.shared[pairs].astype(float), (len(group.before), len(group.after)))
            for at in best.tolist():
                names[group.after[at_b[at]]] = last[group.before[at_a[at]]]
            if self.naming == "nested" and len(group.before) == 1 and len(group.after) > 1:
                parent = last[group.before[0]]
                parts = self._parts(parent)
                for cluster in sorted(group.after, key=lambda c: -overlap.sizes[1][c]):
                    names[cluster] = next(parts)
        if not own_points:
            names.update(self._returning(steps, [c for c in range(len(step.clusters)) if c not in names]))
        new = [c for c in range(len(step.clusters)) if c not in names]
        taken = set(names.values()) | self.used if new else set[Label]()
        names.update(zip(new, self._new([step.clusters[c] for c in new], taken), strict=True))
        self.steps.append(tuple(names[i] for i in range(len(step.clusters))))

    def _parts(self, parent: Label) -> Iterator[str]:
        """Names for the parts of a cluster that splits: those that were never used."""
        used = self.used
        return (name for i in count(1) if (name := f"{parent}.{i}") not in used)

    def _returning(self, steps: Sequence[Step], unnamed: list[int]) -> dict[int, Label]:
        """Clusters without a name that are clusters of earlier steps which were absent since, and their names."""
        step, alive, found = steps[-1], set(self.steps[-1]), dict[int, Label]()
        for earlier, names in zip(reversed(steps[:-2]), reversed(self.steps[:-1]), strict=True):
            gone = [i for i, name in enumerate(names) if name not in alive]
            alive.update(names)
            left = [c for c in unnamed if c not in found]
            if not gone or not left:
                continue
            table = earlier.shared(step, gone, left)
            row, col, shared = table.row, table.col, table.data
            share_a, share_b = shared / earlier.sizes[gone][row], shared / step.sizes[left][col]
            fits = (np.maximum(share_a, share_b) >= RETURN_EITHER) & (np.minimum(share_a, share_b) >= RETURN_BOTH)
            row, col = row[fits], col[fits]
            for at in assignment(row, col, shared[fits].astype(float), (len(gone), len(left))).tolist():
                found[left[col[at]]] = names[gone[row[at]]]
        return found
