"""One file for each question; the slug of its code is the name of its file."""
