"""Shell completion: what can be typed, and how each shell is told."""
