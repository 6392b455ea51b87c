"""Each speed claim is a script here that measures a peer and us in one run and prints the ratio."""
