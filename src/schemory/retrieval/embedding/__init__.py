"""Models that turn texts into vectors: packages that carry their weights, or a folder of one's own.

Nothing here reaches a network. numpy and the models are imported when one is loaded.
"""
