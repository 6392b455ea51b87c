"""Inputs: everything that can be read as a clustering is validated and encoded here, once."""
