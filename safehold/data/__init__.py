"""From text on disk to batches in an order that a resume can continue."""
