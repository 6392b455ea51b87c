"""Ensembles as plain values: dictionaries, JSON, data frames."""

from __future__ import annotations

from congruence.inputs.frames import html_table, make_frame
from congruence.inputs.kinds import Clustering, PointPairs
from congruence.statistics.tables import AsJson
from congruence.typing import Frame, Record


class Listing(PointPairs, AsJson):
    """Conversions of an `Ensemble` to plain values; ensembles with the same values are equal."""

    members: tuple[Clustering, ...]
    names: tuple[str, ...]

    @property
    def described(self) -> str:
        """What it is, in a headline."""
        several = len(self.members) > 1
        return f"ensemble of {len(self.members)} clusterings" if several else f"{self.members[0].k} clusters"

    def to_dict(self) -> Record:
        """The labels of each member by name; memberships by NAME:CLUSTER, and the clusters of each point of a cover.

        Returns:
            Lists, with None for points without a label.

        Raises:
            NotApplicable: If the members are scanned.
        """
        found: Record = {}
        for name, member in zip(self.names, self.members, strict=True):
            found |= member.as_columns(name)
        return found

    def to_frame(self, backend: str | None = None) -> Frame:
        """The same as a data frame, one row per point, in a form that every command reads from a file.

        Args:
            backend: Kind of frame: "pandas", "polars" or "pyarrow". Default None: pandas if it is installed, else pyarrow.

        Returns:
            A data frame.
        """
        return make_frame(self.to_dict(), backend)

    def _repr_html_(self) -> str:
        if self.form == "scan":
            return html_table({"clustering": list(self.names)}, repr(self))
        clusters, points = [c.n_clusters for c in self.members], [len(c) - c.gaps for c in self.members]
        columns: dict[str, list[object]] = {"clustering": [*self.names], "clusters": [*clusters], "points": [*points]}
        return html_table(columns, repr(self))

    def __repr__(self) -> str:
        if self.form == "scan":
            return f"Ensemble: {len(self.members)} clusterings, scanned"
        sizes = sorted({c.n_clusters for c in self.members})
        clusters = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        return f"Ensemble: {len(self.members)} clusterings of {len(self.members[0])} points, {clusters} clusters each"

    def __eq__(self, other: object) -> bool:
        """Whether the other is an ensemble of the same names and labels."""
        if not isinstance(other, Listing) or type(other) is not type(self):
            return False
        return other is self or (self.names == other.names and self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        return hash(self.names)
