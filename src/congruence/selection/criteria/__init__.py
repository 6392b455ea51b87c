"""Published criteria for the number of clusters, by name."""

from congruence.selection.criteria import fitted, resampled
from congruence.selection.criteria.record import Clusterings, Context, Curve, Peer

#: all of them
PEERS: dict[str, Peer] = {peer.name: peer for family in (fitted, resampled) for peer in family.PEERS}

__all__ = ["PEERS", "Clusterings", "Context", "Curve", "Peer"]
