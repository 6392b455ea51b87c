"""The data that the page's script reads: the model as plain values, arrays as bytes in base64."""

from __future__ import annotations

import re
from base64 import b64encode

import numpy as np
from numpy.typing import DTypeLike

from congruence.comparison.presenting import span
from congruence.figures.layout import limits_of
from congruence.reporting import words
from congruence.reporting.answer import (
    CONSISTENT,
    FOUND,
    LEAST_ROUNDS,
    MOST_CAST,
    MOST_ROUNDS,
    MOST_SHUFFLED,
    ROUNDS,
    SHUFFLES,
)
from congruence.reporting.families import middle_of
from congruence.reporting.members import Member, Pair, Scale, is_adjusted
from congruence.reporting.model import Model
from congruence.reporting.phrases import BANDS, PHRASES, TERMS, plain_name
from congruence.reporting.steps import changes_of, rows_of
from congruence.statistics.tables import Array
from congruence.typing import Json, Record

#: largest total length of ids in the page; above it, only some ids are kept
MOST_ID_LETTERS = 1_000_000
_KINDS = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "int32": "i32", "float32": "f32"}


def packed(values: Array, kind: DTypeLike | None = None) -> dict[str, str]:
    """An array as the page reads it: its type and its bytes in base64."""
    array = np.ascontiguousarray(values if kind is None else np.asarray(values).astype(kind))
    little = array.astype(array.dtype.newbyteorder("<"))
    return {"t": _KINDS[array.dtype.name], "b": b64encode(little.tobytes()).decode("ascii")}


def payload(model: Model) -> Record:
    """All data of the page's script, as plain values."""
    members = model.members
    own = [i for i, m in enumerate(members) if not m.is_reference]
    return {
        "n": model.n_points,
        "names": [m.name for m in members],
        "ks": [m.k for m in members],
        "soft": [m.is_soft for m in members],
        "assigned": [m.n_assigned for m in members],
        "means": [m.mean for m in members],
        "group": [m.group for m in members],
        "groups": [[model.names[middle_of(model.agreement, g)], len(g)] for g in model.groups],
        "same": [m.same_as for m in members],
        "trivial": [m.trivial for m in members],
        "counts": [m.counts for m in members],
        "own": own,
        "reference": model.reference,
        "central": model.central,
        "first": _first_pair(model),
        "measures": [_scale(s) for s in model.scales],
        "labels": None if model.pairs.labels is None else [packed(x) for x in model.pairs.labels],
        "clusters": [] if model.pairs.labels is None else [_cluster_names(m) for m in members],
        "tables": [_table(p) for p in model.pairs.tables],
        "command": _pair_command(model),
        "arguments": model.arguments,
        "against": _against(model),
        "points": _points(model),
        "answer": _answer(model),
        "distinct": model.distinct,
        "families": []
        if model.families is None
        else list(zip(model.families.members, model.families.names, strict=True)),
        "features": _features(model),
        "check": _check(model),
        "silhouettes": model.silhouettes,
        "levels": _levels(model),
        "together": _together(model),
        "steps": rows_of(model.steps),
        "drift": changes_of(model.drift),
        "phrases": PHRASES,
        "bands": BANDS,
        "terms": {term: text.replace("`", "") for term, text in TERMS.items()},
        "limits": {
            "found": FOUND,
            "consistent": CONSISTENT,
            "rounds": ROUNDS,
            "cast": MOST_CAST,
            "shuffled": MOST_SHUFFLED,
            "least": LEAST_ROUNDS,
            "most": MOST_ROUNDS,
            "shuffles": SHUFFLES,
        },
    }


def _first_pair(model: Model) -> tuple[int, int]:
    """The pair shown first: one of each family, or with the reference, or the most central clustering and the least like it."""
    if model.families is not None:
        return model.families.middle[0], model.families.middle[1]
    if model.against is not None and model.reference is not None:
        return model.reference, model.against.rows[0].member
    if len(model.members) == 1:
        return 0, 0
    others = [i for i in (model.counted if len(model.counted) > 1 else range(len(model.members))) if i != model.central]
    row = model.square(model.main)[model.central]
    sign = 1.0 if model.main.measure.better == "higher" else -1.0
    return model.central, min(others, key=lambda i: (np.inf if np.isnan(row[i]) else sign * row[i], i))


def _scale(s: Scale) -> Record:
    m = s.measure
    low, high, steps = s.quantised
    return {
        "key": m.key, "title": m.title, "plain": plain_name(m), "better": m.better, "adjusted": is_adjusted(m),
        "range_high": m.range[1] if np.isfinite(m.range[1]) else None,
        "span": span(m), "caution": m.caution, "min": low, "max": high, "q": packed(steps),
        "order": packed(s.tree.order, np.int32), "branches": packed(s.tree.branches, np.float32),
        "place": None if s.place is None else packed(s.place, np.float32), "shown": s.shown,
        "selfs": None if np.allclose(s.selfs, m.best, rtol=0, atol=1e-12) else s.selfs,
    }  # fmt: skip


def _cluster_names(m: Member) -> Json:
    """Names of the clusters, or only the first if they are consecutive whole numbers."""
    if m.clusters and re.fullmatch("-?[0-9]{1,15}", m.clusters[0]):  # larger integers lose digits in JavaScript
        first = int(m.clusters[0])
        if m.clusters == tuple(str(first + i) for i in range(m.k)):
            return {"first": first}
    return list(m.clusters)


def _table(p: Pair) -> Record:
    kind = np.float32 if p.flow.counts.dtype.kind == "f" else np.uint32
    return {
        "a": p.a, "b": p.b, "rows": p.flow.rows, "columns": p.flow.columns, "counts": packed(p.flow.counts, kind),
        "matched": p.flow.matched, "agreed": p.agreed, "worst": p.worst, "rest": p.flow.rest,
    }  # fmt: skip


def _pair_command(model: Model) -> tuple[str, str] | None:
    """The command that compares a pair: the parts before and after the two names."""
    from shlex import quote

    return None if model.source is None else (f"congruence compare {quote(model.source)}", model.options)


def _against(model: Model) -> Record | None:
    if model.against is None:
        return None
    rows = [
        {
            "member": r.member, "values": list(r.values.values()), "agreement": r.agreement, "interval": r.interval,
            "p": r.p_value, "pc": r.p_corrected, "note": r.note,
        }
        for r in model.against.rows
    ]  # fmt: skip
    return {"name": model.against.name, "rows": rows}


def _answer(model: Model) -> Record:
    a = model.answer
    kind = np.uint8 if a.k < 255 else np.uint16 if a.k < 65535 else np.uint32
    steps = np.where(np.isnan(a.placed), 65535, np.rint(np.nan_to_num(a.placed) * 65520)).astype(np.uint16)
    return {
        "source": a.source, "by": a.by, "k": a.k, "labels": packed(a.labels, kind), "counted": a.counted, "pair": a.is_pair,
        "placed": packed(steps), "elsewhere": packed(a.elsewhere, kind), "stability": a.stability, "agreement": a.agreement,
        "sizes": a.sizes, "disputed": packed(a.disputed, np.uint32), "consistent": a.consistent, "found": a.n_found,
        "firmness": a.firmness, "beyond": a.is_beyond_chance, "chance": a.chance.stability,
        "sentence": words.answer(model), "figures": words.figures(model), "use": words.use(model),
    }  # fmt: skip


def _features(model: Model) -> Record | None:
    f = model.features
    return None if f is None else {"names": f.names, "effects": f.effects, "named": f.named}


def _check(model: Model) -> Record | None:
    c = model.check
    if c is None:
        return None
    row = c.table_columns()
    keys = ("cluster", "size", "nearest", "stability", "valley", "p_value", "verdict")
    return {"sentence": c.sentence, "notes": c.notes, "rows": list(zip(*(row[key] for key in keys), strict=True))}


def _levels(model: Model) -> Record | None:
    x = model.levels
    if x is None:
        return None
    return {
        "members": x.members, "ks": x.ks, "curve": x.curve, "left_out": x.left_out,
        "nodes": [(n.y, n.cluster, n.size, n.stability, n.x) for n in x.nodes],
        "edges": [(e.first, e.second, e.count, e.in_prop) for e in x.edges],
    }  # fmt: skip


def _points(model: Model) -> Record:
    p = model.points
    ids = p.ids if p.ids is not None and sum(len(x) + 3 for x in p.ids) <= MOST_ID_LETTERS else None
    place = None
    if p.place is not None:
        shown = p.place if p.drawn is None else p.place[p.drawn]
        low, high = shown.min(axis=0), shown.max(axis=0)
        place = packed(np.rint((shown - low) / np.where(high > low, high - low, 1.0) * 65535), np.uint16)
    return {
        "ids": ids,
        "place": place,
        "axes": p.axes,
        "drawn": None if p.drawn is None else packed(p.drawn, np.uint32),
    }


def _together(model: Model) -> Record | None:
    t = model.together
    if t is None:
        return None
    values = t.cells.values
    steps = np.where(np.isnan(values), 255, np.rint(np.nan_to_num(values) * 254)).astype(np.uint8)
    choice = None
    if t.choice is not None:
        keys = ("name", "title", "better", "values", "errors", "best", "votes")
        curves = [
            {**{key: getattr(c, key) for key in keys}, "limits": limits_of(c.measure or c.name)}
            for c in t.choice.curves
        ]
        choice = {"ks": t.choice.ks, "curves": curves}
    return {
        "size": len(values), "cells": packed(steps), "edges": t.cells.edges,
        "order": None if t.cells.is_aggregated else packed(t.cells.order, np.int32),
        "cdf_values": t.cdf_values, "cdf": t.cdf, "methods": t.methods, "choice": choice,
    }  # fmt: skip
