"""The command line `safehold`."""
