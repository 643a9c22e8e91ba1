"""Programs to read: each is a page, and each is checked against a library that others wrote."""
