"""Published criteria for the number of clusters, by name."""

from congruence.selection.criteria import consensus, gap, geometry, mixture, resampled
from congruence.selection.criteria.record import Clusterings, Context, Curve, Peer

#: all of them
PEERS: dict[str, Peer] = {
    peer.name: peer for family in (geometry, gap, resampled, consensus, mixture) for peer in family.PEERS
}  # fmt: skip

__all__ = ["PEERS", "Clusterings", "Context", "Curve", "Peer"]
