"""The forms in which a graph can be given away, each a function from a walk to pieces of text."""
