"""Stores: the protocols that services speak, and the backends that `app.py` chooses from."""
