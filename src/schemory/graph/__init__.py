"""The knowledge graph's rules: what may be written, and what is answered."""
