"""What a page says about its article: title, authors, dates, kind and more."""
