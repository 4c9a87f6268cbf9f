"""Pages that tests of several modules read."""

PAGE = """<html><head><title>A bridge is built</title></head><body>
<nav class="mainMenu"><a href="/">Home</a> <a href="/b">Business</a></nav>
<main><article class="articleBody--big_2" itemprop="articleBody"><h1>A bridge is built</h1>
<p>The bridge was opened on Monday, and the town was glad of it. It had waited long.</p>
<ul><li>One more thing stands in a list.</li></ul></article></main>
<div hidden><p>Subscribe now</p></div><p>Subscribe now</p></body></html>"""
