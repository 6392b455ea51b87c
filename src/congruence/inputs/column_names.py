"""Meanings of column names (row ids, labels, a reference, measurements), and columns chosen by name or pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from congruence.errors import InputError, hint, some_of
from congruence.typing import ColumnLike

if TYPE_CHECKING:
    from congruence.inputs.column_kinds import ColumnKind


#: column names that mean row ids
ID_NAMES = frozenset(
    {"", "id", "ids", "index", "unnamed: 0", "rownames", "row_names", "row", "rowid", "barcode", "cell", "cellid", "node",
     "key", "uuid", "guid", "level_0"}
)  # fmt: skip
#: names that leave no doubt: such a column holds ids even if some occur more than once
SURE_NAMES = frozenset({"id", "ids", "rowid", "row_id", "uuid", "guid", "unnamed: 0", "rownames", "row_names"})
#: endings of such names, as in customer_no; cluster_id names clusters, so it is judged by its values
ID_ENDINGS = ("_id", "_no", "_nr", "_number", "_key", "_name", "_barcode", "_index")
#: column names that mean labels, in a table of numbers to cluster
LABEL_NAMES = re.compile(
    r"(leiden|louvain|k-?means|cluster|consensus|community|cell[_ ]?type|species|target|group|segment|annotation|walktrap"
    r"|infomap|hdbscan|dbscan|ward|spectral|alternative|seurat)s?([_ .]?(id|no|label|ids|labels|name))?([_ .:]?[\d.]+)*"
    r"|(leiden|louvain|kmeans|seurat_clusters|cluster|clusters)[_ .].*",
    re.IGNORECASE,
)
REFERENCE_NAMES = re.compile(
    r"(ground[_ ]?truth|truth|class|classes|label|reference)([_ ]?\d+)?"
    r"|(ground[_ ]?truth|truth|reference)[_ ](?!(.*[_ ])?(id|no|nr|number|key)$).+"
    r"|true[_ ](labels?|class(es)?|clusters?|types?)"
    r"|(cell[_ .-]?(types?|label|class|annotation)s?|annotations?)([_ .-]?(\d+|fine|coarse|broad|major|minor|original|author))?",
    re.IGNORECASE,
)
#: column names that mean a description of the points, in the annotations of an AnnData object
DESCRIBING_NAMES = re.compile(
    r"(batch|donor|sex|gender|(cell[_ .]?cycle[_ .]?)?phase|sample|condition|treatment|tissue|organ|chemistry|assay|platform"
    r"|technology|orig[_ .]?ident|individual|patient|subject|replicate|library|lane|plate|well|chip|date|experiment|study"
    r"|dataset|project|site|cent(er|re)|age([_ .]?group)?|(development(al)?[_ .]?)?stage|disease|status|organism|species|strain"
    r"|genotype|time([_ .]?point)?|day|region|protocol|suspension|group|run|hash|guide|target)s?"
    r"([_ .-]?(id|name|label|no|key|type|class|status))?([_ .-]?\d+)?"
    r"|(self[_ .]reported[_ .])?(ethnicity|race)|is[_ .].+|.*doublets?|.*ontology_term_id|(hto|hash|multi)[_ .].*",
    re.IGNORECASE,
)
#: column names that mean measurements, if the values are numbers
MEASURED_NAMES = re.compile(
    r"(n|num|total|pct|percent|log1p|mean|frac|fraction)_.+|.+_(counts?|score|fraction|pct|percent)|score",
    re.IGNORECASE,
)

#: column names that mean coordinates of a picture, in which distances and densities are not those of the data
PICTURE_NAMES = re.compile(
    r"(X_)?(umap|t-?sne|draw_graph_fa|force_?atlas2?|phate|trimap|pacmap)[_ .-]?\d*", re.IGNORECASE
)

#: column names that mean steps in time: a word for time with a number, or a date
STEP_NAMES = re.compile(
    r"(?P<stem>.*?(?:week|day|month|year|quarter|step|time|wave|release|version|snapshot|round|epoch|period|[twvq]))[_ .-]?\d+"
    r"|(?P<date>.*?)(19|20)\d\d([-_./]?(\d{1,2}|w\d{1,2}|q[1-4]))?([-_./]?\d{1,2})?",
    re.IGNORECASE,
)
#: fewest columns that are called steps
FEWEST_STEPS = 3


def are_steps(names: Sequence[str]) -> bool:
    """Whether the names of columns mean steps in time, with the same beginning.

    >>> are_steps(["week_1", "week_2", "week_3"]), are_steps(["2021-05", "2021-06", "2021-07"]), are_steps(["k2", "k3", "k4"])
    (True, True, False)
    """
    found = [STEP_NAMES.fullmatch(name.strip()) for name in names]
    stems = {(x["stem"], x["date"]) for x in found if x is not None}
    return len(names) >= FEWEST_STEPS and None not in found and len(stems) == 1


def names_rows(name: str) -> bool:
    """Whether a column name means ids: `id`, `node`, `cell`, `customer_no`, a pandas index.

    >>> names_rows("customer_no"), names_rows("Unnamed: 0"), names_rows("cluster_id"), names_rows("kmeans")
    (True, True, False, False)
    """
    low = name.strip().lower()
    if LABEL_NAMES.fullmatch(low) or reference_among([low]):
        return False
    return low in ID_NAMES or low.startswith("__index_level_") or low.endswith(ID_ENDINGS)


def says_id(name: str) -> bool:
    """Whether a column with this name holds ids even if some occur more than once."""
    return name.strip().lower() in SURE_NAMES


def kind_by_name(name: str) -> str | None:
    """What a column of whole numbers holds according to its name: "ids", "labels", or None if the name does not say.

    >>> kind_by_name("customer_no"), kind_by_name("leiden_0.5"), kind_by_name("truth"), kind_by_name("age")
    ('ids', 'labels', 'labels', None)
    """
    low = name.strip()
    if LABEL_NAMES.fullmatch(low) or reference_among([low]):
        return "labels"
    return "ids" if names_rows(low) else None


def reference_among(names: Iterable[str]) -> str | None:
    """The first column named like a reference: truth, class, label or reference, alone or as in reference2, true_class.

    >>> reference_among(["kmeans", "reference0", "reference1"]), reference_among(["Class", "a"]), reference_among(["labels2"])
    ('reference0', 'Class', None)
    >>> reference_among(["kmeans", "true_label"]), reference_among(["reference_position"]), reference_among(["reference_no"])
    ('true_label', 'reference_position', None)
    >>> reference_among(["leiden", "cell_type"]), reference_among(["leiden_cell_type", "predicted_cell_type"])
    ('cell_type', None)
    """
    return next((name for name in names if REFERENCE_NAMES.fullmatch(name.strip())), None)


def other_references(names: Iterable[str], reference: str | None) -> list[str]:
    """Other columns named like a reference, such as reference1 if reference0 is the reference; they are not compared.

    >>> other_references(["reference0", "kmeans", "reference1"], "reference0"), other_references(["a", "truth"], "a")
    (['reference1'], [])
    """
    if reference is None or reference_among([reference]) is None:
        return []
    return [name for name in names if name != reference and reference_among([name])]


def named_columns(
    wanted: str | Sequence[str] | None,
    there: Iterable[str],
    source: str = "the table",
    apart: Sequence[str | None] = (),
) -> list[str]:
    """The columns that match names and patterns (`*`, `?`, `[…]`), in order, each once; a name may contain commas.

    No pattern matches the columns `apart`. A name or pattern that matches none is an error.

    >>> named_columns("k=3, seed 1,leiden*", ["id", "k=3, seed 1", "leiden_1", "leiden_2"])
    ['k=3, seed 1', 'leiden_1', 'leiden_2']
    """
    names = list(there)
    if wanted is None:
        return []
    words = _words(wanted, names) if isinstance(wanted, str) else [str(x) for x in wanted]
    found: dict[str, None] = {}
    for word in words:
        matched = [word] if word in names else [x for x in names if fnmatchcase(x, word) and x not in apart]
        if not matched:
            listed = "it has: " + some_of(names)
            raise InputError(f"{source} has no column {word!r}; {hint(word, names, listed)}")
        found |= dict.fromkeys(matched)
    return list(found)


def _words(text: str, names: Sequence[str]) -> list[str]:
    """The items of a comma-separated list; items that together form one column name are joined again."""
    if text in names:
        return [text]
    pieces, words = text.split(","), []
    while pieces:
        for many in range(len(pieces), 0, -1):
            raw = ",".join(pieces[:many])
            word = next((w for w in (raw, raw.strip(), raw.strip().strip("\"'")) if w in names), None)
            if word is not None or many == 1:
                words.append(raw.strip() if word is None else word)
                pieces = pieces[many:]
                break
    return [word for word in words if word]


def listed_names(names: object) -> list[str]:
    """Names of clusterings as texts, or an InputError if they are not a list."""
    if isinstance(names, Iterable) and not isinstance(names, str):
        return [str(x) for x in names]
    raise InputError(f"names must be a list of names, one per clustering; got {names!r}")


#: labels that are words for no cluster
NO_CLUSTER = frozenset(
    ["noise", "singleton", "singletons", "unassigned", "unclustered", "unlabelled", "unlabeled", "outlier", "outliers"]
)


def label_of_noise(names: Sequence[object]) -> object:
    """The label among others that may mean noise: −1 among numbers, or a word for no cluster; None if there is none.

    >>> label_of_noise((-1, 0, 1)), label_of_noise(("-1", "0")), label_of_noise(("B", "Noise")), label_of_noise(("noise",))
    (-1, '-1', 'Noise', None)
    """
    if len(names) < 2:
        return None
    numbers = [x for x in names if type(x) is int]
    texts = [x for x in names if type(x) is str]
    if len(numbers) > 1 and min(numbers) == -1:
        return -1
    if "-1" in texts and all(x.isdecimal() for x in texts if x != "-1"):
        return "-1"
    return next((x for x in texts if x.strip().lower() in NO_CLUSTER), None)


# --- annotations of an AnnData object -----------------------------------------------------------------------------


#: why a column of annotations is left out
DESCRIBE = "describe the points"


class Annotations(dict[str, ColumnLike]):
    """The columns of the `.obs` of an AnnData object: some are clusterings, others describe the points."""


def describing_columns(kinds: Mapping[str, ColumnKind], reference: str | None = None) -> dict[str, str]:
    """The label columns of annotations that describe the points (batch, donor, sex) and are no clusterings, and the reason.

    A name such as batch, one value for all points, or floats under a name of another kind say that a column is none. Among the
    others, those named like clusterings and those whose labels are numbers are clusterings; texts are, if no column is named
    like a clustering.

    Args:
        kinds: The kinds of the columns by name.
        reference: A column that was named as the reference. Default None.

    >>> import numpy as np
    >>> from congruence.inputs.column_kinds import kind_of_column
    >>> obs = {"leiden": list("0011"), "run_a": list("0112"), "sex": list("FFMM"), "mood": list("aabb")}
    >>> describing_columns({name: kind_of_column(name, np.array(column)) for name, column in obs.items()})
    {'sex': 'describes the points, by its name', 'mood': 'describes the points: its labels are not numbers'}
    """
    labels = {
        x: kind for x, kind in kinds.items() if kind.kind == "labels" and x != reference and not reference_among([x])
    }
    found: dict[str, str] = {}
    for name, kind in labels.items():
        if DESCRIBING_NAMES.fullmatch(name.strip()):
            found[name] = "describes the points, by its name"
        elif kind.is_flag and not LABEL_NAMES.fullmatch(name.strip()):
            found[name] = f"describes the points: {kind.why}"
        elif kind.is_float and not LABEL_NAMES.fullmatch(name.strip()):
            found[name] = f"describes the points: floats, and no name of a clustering ({kind.why})"
    rest = [name for name in labels if name not in found]
    named = [name for name in rest if LABEL_NAMES.fullmatch(name.strip())]
    if named:
        words = "describes the points: its labels are not numbers"
        others = [name for name in rest if name not in named]
        found |= {name: words for name in others if not labels[name].is_number and not labels[name].is_codes}
    return found if rest else {}
