"""CETR: content extraction via tag ratios (Weninger, Hsu & Han 2010).

Works on the lines of the page's source, not on its tree. Section and equation numbers are
the paper's; docs/algorithms.md, section 4, decides what it leaves open.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from newscrawl.text import unescape

Variant = Literal["cetr", "cetr-km", "cetr-tm"]
Kernel = Literal["unit", "literal"]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The constants of the paper; `kernel` chooses the reading of its equation 1.

    `unit` is a kernel of one standard deviation, the usual reading; `literal` takes the standard
    deviation of the ratios themselves for its width, as the paper's text says.
    """

    kernel: Kernel = "unit"
    radius: int = 2  # of the unit kernel; ours, algorithms.md section 4 gives 1 to 3
    threshold: float = 1.0  # lambda, section 6.5
    lookahead: int = 3  # alpha, section 5.1
    clusters: int = 3  # k, sections 4.3 and 5.2
    line_width: int = 65  # section 5.3
    long_line: int = 2000  # ours: a line over this is always broken


PAPER: Final = Tuning()

# Of the largest pages only the first part is read: the loops below are in Python.
MAX_SOURCE: Final = 5_000_000

_INVISIBLE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_TAG: Final = re.compile(r"<[a-zA-Z/!?][^<>]*>")


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a page's source, tags counted.

    `text[i]` is line i without tags; `chars` its length, `tags` the number of tags in it;
    `continues[i]` is true if we broke line i off line i - 1.
    """

    text: tuple[str, ...]
    chars: NDArray[np.int64]
    tags: NDArray[np.int64]
    continues: tuple[bool, ...]


def read_lines(source: str, tuning: Tuning = PAPER) -> Lines:
    """Split a page's source into lines and count the tags of each (section 3)."""
    visible = _INVISIBLE.sub("", source[:MAX_SOURCE])
    # A tag that spans lines belongs to the line it begins on.
    visible = _TAG.sub(lambda match: match[0].replace("\n", " ").replace("\r", " "), visible)
    lines: list[str] = []
    continues: list[bool] = []
    for line in visible.splitlines():
        if stripped := line.strip():
            parts = _break(stripped, tuning) if len(stripped) > tuning.long_line else [stripped]
            lines += parts
            continues += [False] + [True] * (len(parts) - 1)
    text = tuple(_TAG.sub("", line) for line in lines)
    tags = [len(_TAG.findall(line)) for line in lines]
    return Lines(
        text=text,
        chars=np.array([len(each) for each in text], dtype=np.int64),
        tags=np.array(tags, dtype=np.int64),
        continues=tuple(continues),
    )


def _break(line: str, tuning: Tuning) -> list[str]:
    """Break a line every 65 characters, at the next place outside a tag (section 5.3)."""
    tags = [match.span() for match in _TAG.finditer(line)]
    parts, start, tag = [], 0, 0
    while start < len(line):
        end = start + tuning.line_width
        while tag < len(tags) and tags[tag][1] <= end:
            tag += 1
        if tag < len(tags) and tags[tag][0] < end:
            end = tags[tag][1]
        parts.append(line[start:end])
        start = end
    return parts


def tag_ratios(lines: Lines) -> FloatArray:
    """Return characters outside tags over tags; over 1 where a line has none (Algorithm 1)."""
    return lines.chars / np.maximum(lines.tags, 1)


def smooth(ratios: FloatArray, tuning: Tuning = PAPER) -> FloatArray:
    """Convolve with a normalised Gaussian kernel (equations 1 to 3), the ends repeated."""
    if len(ratios) == 0:
        return ratios
    if tuning.kernel == "unit":
        deviation, radius = 1.0, tuning.radius
    else:
        deviation = float(ratios.std()) or 1.0
        radius = min(int(np.ceil(deviation)), len(ratios))
    ends = ratios[[0, -1]].repeat(radius)  # np.pad takes ten times as long on so few numbers
    padded = np.concatenate((ends[:radius], ratios, ends[radius:]))
    return np.convolve(padded, _kernel(deviation, radius), mode="valid")


def weights(tuning: Tuning) -> FloatArray:
    """Return the weights of the unit kernel."""
    return _kernel(1.0, tuning.radius)


@lru_cache(maxsize=16)
def _kernel(deviation: float, radius: int) -> FloatArray:
    offsets = np.arange(-radius, radius + 1)
    kernel = np.exp(-(offsets**2) / (2 * deviation**2))
    return np.asarray(kernel / kernel.sum())


def derivatives(smoothed: FloatArray, tuning: Tuning = PAPER) -> FloatArray:
    """Return absolute smoothed derivatives: the mean of the next alpha ratios less a line's own
    (equation 4)."""
    if len(smoothed) == 0:
        return smoothed
    padded = np.concatenate((smoothed, smoothed[-1:].repeat(tuning.lookahead)))
    sums = np.concatenate(([0.0], padded.cumsum()))
    count = len(smoothed)
    ahead = (sums[1 + tuning.lookahead :] - sums[1 : 1 + count]) / tuning.lookahead
    return np.abs(smooth(ahead - smoothed, tuning))


def keep_lines(lines: Lines, variant: Variant, tuning: Tuning = PAPER) -> NDArray[np.bool_]:
    """Return which lines are content. A page without tags is all content (section 5.3)."""
    if not lines.tags.any():
        return np.ones(len(lines.text), dtype=bool)
    ratios = tag_ratios(lines)
    smoothed = smooth(ratios, tuning)
    if variant == "cetr-tm":
        return np.asarray(smoothed >= tuning.threshold * ratios.std())
    if variant == "cetr-km":
        labels, centroids = _k_means(smoothed[:, None], tuning.clusters, pinned=False)
        return np.asarray(labels != np.argmin(np.abs(centroids[:, 0])))
    points = np.stack((smoothed, derivatives(smoothed, tuning)), axis=1)
    labels, _ = _k_means(points, tuning.clusters, pinned=True)
    return np.asarray(labels != 0)


def _k_means(
    points: FloatArray, clusters: int, *, pinned: bool
) -> tuple[NDArray[np.int64], FloatArray]:
    """Run Lloyd's algorithm; the first centroids are quantiles by length, so that it is repeatable.

    With `pinned`, centroid 0 stays at the origin (section 5.2).
    """
    order = np.argsort(np.linalg.norm(points, axis=1), kind="stable")
    picks = np.linspace(0, len(points) - 1, clusters).round().astype(int)
    centroids = points[order[picks]].copy()
    if pinned:
        centroids[0] = 0.0
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(_MAX_ROUNDS):
        distances = ((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        for cluster in range(int(pinned), clusters):
            members = points[labels == cluster]
            if len(members):
                centroids[cluster] = members.mean(axis=0)
    return labels, centroids


_MAX_ROUNDS: Final = 100  # ours: k-means on real pages converges within 30


def paragraphs(lines: Lines, mask: NDArray[np.bool_]) -> list[str]:
    """Return the text of the kept lines, entities decoded; lines that we broke are joined again."""
    result: list[str] = []
    joins = False
    for text, continues, keep in zip(lines.text, lines.continues, mask, strict=True):
        if keep and continues and joins:
            result[-1] += text
        elif keep:
            result.append(text)
        joins = bool(keep)
    decoded = (" ".join(unescape(each).split()) for each in result)
    return [each for each in decoded if each]
