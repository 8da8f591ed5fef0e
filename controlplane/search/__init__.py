"""Search over everything that people name: page, API and what both find."""
