"""What a person does around the product: see whether all is well, and look after the store."""
