"""What must not be stored, and what must not be believed: detectors over plain text."""
