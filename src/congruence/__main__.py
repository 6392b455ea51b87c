"""`python -m congruence` is the command `congruence`."""

from congruence.cli import main

main()
