"""`congruence ensemble`: how much the members agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.joining import rows_of_two
from congruence.cli.options import Format, Gappy, Labels, Printing, Scanned, option
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_json, print_result, print_rows, say, show
from congruence.cli.reading import labels_of, scanned_columns
from congruence.typing import OptionValue, Record

if TYPE_CHECKING:
    from congruence.comparison.pair import Comparison


class Given(Gappy, Scanned, Printing):
    """The options of the command."""

    against: Path | None = option(None, "File of a second ensemble of the same points.")


@app.command()
def ensemble(given: Given) -> None:
    """Show how much the members of an ensemble agree with each other, a reference or another ensemble.

    Examples:

      congruence ensemble runs.csv --reference truth

      congruence ensemble mine.parquet --against theirs.parquet

      congruence ensemble nodes.csv --partial --missing ratio
    """
    import congruence as cg
    from congruence.consensus_clustering.judging import near_trivial_members
    from congruence.ensembles.agreement import mean_of_pairs, members_and_certainty, ranked_members

    check_width(given.file, given.columns, given.long)
    scanned = scanned_columns(given, find_reference=True)
    if scanned is None:
        read = labels_of(given, find_reference=True)
    elif given.against is not None:
        raise cg.InputError(
            "--against needs ensembles in memory: the rows of scanned files cannot be matched; put both into one table"
        )
    else:
        read = scanned[0]
    found, reference = dict(read.columns), read.reference
    truth = found.pop(reference) if reference is not None else None
    options: dict[str, OptionValue] = {"unassigned": given.policy, "noise": noise_labels(given.noise)}
    check_number(found, MOST_COLUMNS)
    members = cg.Ensemble(found, **options)
    trivial, notes = ([], []) if members.is_lazy else near_trivial_members(members)
    members = members[[i for i in range(len(members)) if i not in trivial]]
    say(notes)
    keys = {"mean ari": "ari", "mean nmi_sum": "nmi_sum", "mean vi": "vi", "pnmi (low is diverse)": "nmi_sqrt"}
    pairs, certainty = members_and_certainty(members, list(keys.values()), given.missing, given.threads)
    ranked = ranked_members(members, cg.measure("ari"), pairs["ari"]) if len(members) > 1 else {}
    kmax = max(max(c.k for c in members), 2)
    facts: Record = {
        "members": len(members),
        "points": members.n_points,
        "certainty": certainty,
        "certainty of random members": cg.certainty_random(kmax, len(members)),
    }
    if len(members) > 1:
        facts |= {name: mean_of_pairs(members, pairs[key]) for name, key in keys.items()}
    if truth is not None:
        facts[f"arimp with {reference}"] = cg.arimp(members, truth, missing=given.missing)
        if not members.has_gaps:
            facts[f"anmi with {reference}"] = cg.anmi(members, truth)
    result = None
    if given.against is not None:
        other = labels_of(Labels(file=given.against, id=given.id, long=given.long)).columns
        rows = rows_of_two(given, given.against)
        wanted = [cg.measure(key, missing=given.missing) for key in ("arimm", "kas", "nsf", "sms")]
        mine, theirs = members, cg.Ensemble(other, **options)
        if rows.take is not None:
            mine, theirs = mine.taken(rows.take[0]), theirs.taken(rows.take[1])
        result = cg.compare(mine, theirs, wanted, threads=given.threads)
        say(rows.notes)
    say(pairs.cautions)
    _print_ensemble(facts, ranked, result, given.format)


def _print_ensemble(facts: Record, ranked: dict[str, float], result: Comparison | None, format: Format) -> None:
    if format == "json":
        about = {"ensemble": facts, "mean ari of members with the rest": ranked, "against": result and result.to_dict()}
        print_json(about)
        return
    print_rows([{"": name, "value": value} for name, value in facts.items()], format)
    if ranked:
        show()
        rows = [{"member": name, "mean ari with the rest": value} for name, value in ranked.items()]
        shown = rows if format != "table" or len(rows) <= 20 else [*rows[:10], *rows[-5:]]
        print_rows(shown, format)
        if len(shown) < len(rows):
            show(f"(the 10 most and the 5 least central of {len(rows)} members; --format csv shows all)")
    if result is not None:
        show()
        print_result(result, format)
