"""Criteria from Gaussian mixtures: BIC and ICL, the best of four kinds of covariance."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from congruence.selection import mixtures
from congruence.selection.criteria.record import Context, Curve, Peer, top, unknown


def _fitted(context: Context) -> list[list[mixtures.Fit]]:
    return [
        mixtures.fits(context.points, fit.halves.labels, k, steps=500, tolerance=1e-6, ridge=1e-6)
        for k, fit in context.fits.items()
    ]


def _best(name: str, context: Context) -> Curve:
    fitted = context.once(_fitted)
    found = np.array([max((float(getattr(f, name)) for f in each), default=math.nan) for each in fitted])
    return Curve(found, unknown(found), top(context.ks, found))


PEERS = (
    Peer("bic", "BIC of the best Gaussian mixture (Fraley and Raftery 2002)", "higher", True, partial(_best, "bic")),
    Peer("icl", "ICL of the best Gaussian mixture (Biernacki et al. 2000)", "higher", True, partial(_best, "icl")),
)
