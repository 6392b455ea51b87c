"""Histories with planted events, and the events found in the planted names."""

from __future__ import annotations

from collections import Counter

import numpy as np

#: events that change the points, and those that do not
COMING, STAYING = ("new", "gone", "grew", "shrank"), ("split", "merged")


def planted(seed, *, steps=6, n=900, k=6, noise=0.02, kinds=COMING + STAYING):
    """(labels of each step with None for absent points, planted name of each label, events): points of one panel."""
    rng = np.random.default_rng(seed)
    now = rng.integers(0, k, n)
    history, truth, fresh = [now], [], k
    for t in range(1, steps):
        alive = [int(c) for c in np.unique(now) if c >= 0]
        sizes = {c: int((now == c).sum()) for c in alive}
        after, free, came = now.copy(), list(rng.permutation(alive)), 0
        for kind in rng.choice(kinds, 2, replace=False):
            if len(free) < 3:
                break
            c = int(max(free, key=sizes.get)) if kind in ("split", "shrank") else int(free[0])
            points = rng.permutation(np.flatnonzero(now == c))
            if kind == "split":
                after[points[: int(0.4 * len(points))]] = fresh
                truth.append((t, "split", (c,), (c, fresh)))
                fresh += 1
            elif kind == "merged":
                small, large = sorted((int(x) for x in free[:2]), key=sizes.get)
                after[now == small] = large
                truth.append((t, "merged", tuple(sorted((small, large))), (large,)))
                free.remove(next(x for x in free if x not in (c,) and x in (small, large)))
            elif kind == "new":
                came, name = int(rng.integers(60, 150)), fresh
                truth.append((t, "new", (), (fresh,)))
                fresh += 1
            elif kind == "grew":
                came, name = int(0.6 * sizes[c]) + 30, c
                truth.append((t, "grew", (c,), (c,)))
            else:
                after[points if kind == "gone" else points[: len(points) // 2]] = -1
                truth.append((t, kind, (c,), () if kind == "gone" else (c,)))
            if kind in ("new", "grew"):
                after = np.append(after, np.full(came, name))
                now = np.append(now, np.full(came, -1))
                history = [np.append(h, np.full(came, -1)) for h in history]
            if kind != "new":
                free.remove(c)
        touched = {c for event in truth if event[0] == t for c in event[2]}
        truth += [(t, "kept", (c,), (c,)) for c in alive if c not in touched]
        now = after
        history.append(now)
    labels, called = [], []
    for h in history:
        h, alive = h.copy(), np.unique(h[h >= 0])
        here = np.flatnonzero(h >= 0)
        moved = here[rng.random(len(here)) < noise]
        h[moved] = rng.choice(alive, len(moved))
        own = dict(zip(alive.tolist(), rng.permutation(len(alive)).tolist(), strict=True))
        labels.append([None if c < 0 else own[c] for c in h.tolist()])
        called.append({label: c for c, label in own.items()})
    return labels, called, sorted(truth)


def found_in(t, called):
    """The events of a result with the planted names of the clusters."""
    place = {name: i for i, name in enumerate(t.steps)}

    def names(labels, step):
        return tuple(sorted(called[step][x] for x in labels))

    return sorted(
        (place[e.step], e.event, names(e.clusters_before, place[e.step] - 1), names(e.clusters_after, place[e.step]))
        for e in t.happened
    )


def f1(found, truth):
    """Harmonic mean of precision and recall of events."""
    return 2 * sum((Counter(found) & Counter(truth)).values()) / (len(found) + len(truth))


def memberships(labels, called, seed=0):
    """Memberships in which each point is mostly in the cluster of its label."""
    rng = np.random.default_rng(seed)
    found = []
    for step, names in zip(labels, called, strict=True):
        u = 0.35 * rng.dirichlet(np.full(len(names), 0.3), len(step))
        u[np.arange(len(step)), step] += 0.65
        found.append(u)
    return found
