"""Measures and their soft definitions."""

from __future__ import annotations

import naive
from doors import (
    KEYS,
)

AMI = [key for key in KEYS if key.startswith("ami_")]
#: soft measures of `naive`, and those whose formula takes any table
SOFT = {
    **naive.SOFT,
    "kappa_max": naive.counted(naive.soft_table, naive.kappa_max),
    "lambda": naive.counted(naive.soft_table, naive.lambda_),
}
