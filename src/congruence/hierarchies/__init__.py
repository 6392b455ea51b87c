"""Agreement of two hierarchies, cut by cut."""
