"""A simulated world for launching: one run, a cluster, workers that are killed between any two lines."""
