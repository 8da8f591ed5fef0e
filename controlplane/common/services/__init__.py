"""Writes: projects, members, tokens, accounts."""
