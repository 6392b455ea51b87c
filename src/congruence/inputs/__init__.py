"""Inputs: whatever a person calls a clustering is validated and encoded here, once."""
