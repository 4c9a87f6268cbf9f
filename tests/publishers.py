"""Pages of publishers that state their text in JSON-LD."""

import json

TOPICS = ("harbour", "market", "library", "bridge", "theatre", "museum", "airport", "stadium")


def paragraphs(topic: str) -> list[str]:
    """Return the paragraphs of a story about something."""
    return [
        f"The {topic} reopened on Monday after repairs that took {number + 2} weeks, the mayor of "
        f"the town said, and thanked the {number + 3} crews that had worked through the storm."
        for number in range(6)
    ]


def page(topic: str = "harbour", *, shown: list[str] | None = None, **stated: object) -> bytes:
    """Return a page that shows paragraphs, and states a text and more in JSON-LD."""
    story = paragraphs(topic)
    data = {"@type": "NewsArticle", "headline": f"The {topic} reopens", "articleBody": story}
    body = {"articleBody": "\n".join(story)} | stated
    text = "".join(f"<p>{one}</p>" for one in (story if shown is None else shown))
    return (
        f'<html lang="en"><head><title>The {topic} reopens</title>'
        f'<script type="application/ld+json">{json.dumps(data | body)}</script></head>'
        f"<body><nav><a href=/>Home</a></nav><article><h1>The {topic} reopens</h1>{text}</article>"
        "<footer><p>All rights reserved by the paper of the town.</p></footer></body></html>"
    ).encode()
