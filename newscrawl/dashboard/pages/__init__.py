"""The pages for a browser, each in a module of its own."""
