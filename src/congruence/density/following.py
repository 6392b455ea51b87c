"""Windows of a stream without an end: each is tested when the next one begins, and then forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from congruence.density.changes import is_beyond, row_of
from congruence.density.profile import Profile
from congruence.density.similarity import compare_profiles
from congruence.density.watching import Watch
from congruence.density.windows import Bins, reference_of
from congruence.typing import ClusteringLike, Label, NoiseLike, PathLike, PointsLike, Record


def followed(
    parts: Iterable[tuple[Label, PointsLike, ClusteringLike]],
    *,
    reference: str | Profile | PathLike = "first",
    alpha: float = 0.01,
    threshold: float | None = None,
    measure: str = "adco",
    noise: NoiseLike = None,
    **binning: object,
) -> Iterator[Record]:
    """One row per window as soon as the next window begins, with its changes; memory does not grow with the stream.

    Args:
        parts: (name, X, labels) of successive parts; successive parts with the same name are one window.
        reference: As in `drift`.
        alpha: As in `drift`.
        threshold: As in `drift`.
        measure: As in `drift`.
        noise: As in `drift`.
        binning: Other options of `Bins.of`.

    >>> parts = [(day, [[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]) for day in ("monday", "tuesday")]
    >>> [(row["window"], row["first"], row["alarm"]) for row in followed(parts)]
    [('monday', None, False), ('tuesday', 1.0, False)]
    """
    start = reference_of(reference)
    options = {"binning": "width", "bins": 10, "nominal": (), "unassigned": "error"} | binning
    own = Bins.of(start, noise=noise, **options)  # type: ignore[arg-type]
    watch: Watch | None = None
    first = start if isinstance(start, Profile) else None
    previous: Profile | None = None
    for name, group in groupby(parts, key=itemgetter(0)):
        profile: Profile | None = None
        for _, X, labels in group:
            part = own.profile(name, X, labels)
            profile = part if profile is None else profile + part
        assert profile is not None
        finding = None
        if first is not None:
            watch = watch or Watch(first.detail or first, alpha, "previous" if start == "previous" else "first")
            finding = watch.test(name, profile.detail or profile)
        against = None if first is None else compare_profiles(first, profile)
        before = None if previous is None else compare_profiles(previous, profile)
        alarm = finding is not None and (
            finding.alarm or (against is not None and is_beyond(against, measure, threshold))
        )
        moved = [] if finding is None else [row._asdict() for row in finding.moved]
        yield {**row_of(name, profile, finding, alarm, before, against, measure), "moved": moved}
        previous, first = profile, first or profile
