"""Pure text and scores for search: tokens, stems, phrases, snippets, ranking; no SQL."""
