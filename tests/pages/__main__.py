"""`python -m tests.pages`: for each new page, the JSON of what is extracted now.

A person corrects it to what is right: what was written here is only where to begin.
"""

import json
from dataclasses import asdict

from tests.pages import Expected, article_of, pages

OPENING = 60  # characters of a paragraph that tell it from all others


def main() -> None:
    """Write what is missing, and say so."""
    missing = [page for page in pages() if not page.with_suffix(".json").exists()]
    for page in missing:
        article = article_of(page, f"https://news.example/{page.stem}")
        expected = Expected(
            url=article.url or "",
            title=article.title,
            language=article.language,
            kind=article.kind,
            must=[paragraph[:OPENING] for paragraph in article.paragraphs],
            must_not=[],
            shortcomings=[],
        )
        text = json.dumps(asdict(expected), ensure_ascii=False, indent=2)
        page.with_suffix(".json").write_text(f"{text}\n", "utf-8")
        print(f"Wrote {page.stem}.json: correct it to what is right.")
    if not missing:
        print("Every page has its JSON; remove one to have it written anew.")


if __name__ == "__main__":
    main()
