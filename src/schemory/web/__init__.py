"""A read-only viewer in the browser, for the person whose memory it is."""
