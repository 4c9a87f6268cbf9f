"""How well companies, metadata and kinds of pages are found, against labels by people."""
