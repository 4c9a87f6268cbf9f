"""Choose how extraction reads pages: with the compiled kernel, or with Python alone.

`setup.py` compiles `kernel.pyx` where there is a C compiler. The kernel has the results of Python
in a fraction of the time. It reads the parser's nodes by their addresses, so it is used only with
versions of selectolax that it was tried with, and only after it has read a test page correctly.
"""

import hashlib
import os
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType
from typing import Final

import selectolax
from selectolax.lexbor import LexborHTMLParser, LexborNode

# The variable of the environment that switches the kernel off.
PURE: Final = "NEWSCRAWL_PURE"
# Their wheels hold the same layout of nodes; each passes the tests with the kernel.
TESTED_VERSIONS: Final = ("1.0.0", "1.0.1", "1.0.2")
_MODULE: Final = "newscrawl.extraction.kernel"
_SOURCE: Final = "kernel.pyx"
# Elements and attributes that the parser knows and some that it doesn't, text of several bytes.
_PAGE: Final = (
    b'<!doctype html><html lang="de"><body class="a b" id="main" style="display: none">'
    b"<!-- comment --><p hidden itemprop='text' role=note aria-hidden=true title>\xc3\xa4 one"
    b"<br>two &amp; three</p><x-card data-key=1 CLASS=c><svg viewBox='0 0 1 1' class=d>"
    b"<use xlink:href='#a' href='#b'/></svg><i>\xe4\xb8\x80</i></x-card> end"
    b"<meta name=a property=b http-equiv=c content=d><link rel=e type=f><time datetime=g pubdate>"
    b"</time></body></html>"
)


class NoKernelError(Exception):
    """The kernel isn't used; the message says why, and what to do."""


def load() -> ModuleType:
    """Return the kernel; raise NoKernelError if it isn't used."""
    if os.environ.get(PURE, "").strip() not in ("", "0"):
        raise NoKernelError(f"{PURE} is set")
    if find_spec(_MODULE) is None:
        raise NoKernelError(
            "it isn't built; with a C compiler, pip install -e . (a checkout: make dev) builds it"
        )
    if selectolax.__version__ not in TESTED_VERSIONS:
        raise NoKernelError(
            f"it isn't tested with selectolax {selectolax.__version__}; install one of"
            f" {', '.join(TESTED_VERSIONS)}"
        )
    try:
        kernel = import_module(_MODULE)
    except ImportError as error:
        raise NoKernelError(f"it can't be imported ({error}); build it again") from error
    source = files("newscrawl.extraction").joinpath(_SOURCE).read_bytes()
    if hashlib.sha256(source).hexdigest() != kernel.SOURCE:
        raise NoKernelError(
            f"it was built from another {_SOURCE}; pip install -e . (a checkout: make dev) builds"
            " it again"
        )
    # Raise NoKernelError unless the kernel reads the nodes of a page as selectolax does.
    tree = LexborHTMLParser(_PAGE)
    root = tree.root
    nodes = list(_nodes(root))
    try:
        read = kernel.read_tree(root.mem_id) if root is not None else []
    except (kernel.LayoutError, UnicodeDecodeError):
        read = []
    numbers = _names_of_numbers(nodes, read)
    expected = [(node.tag_id, node.text_content, dict(node.attributes)) for node in nodes]
    layout = [
        (tag, text, {numbers.get(name, name): value for name, value in attributes.items()})
        for tag, text, attributes in read
    ]
    if (
        not nodes
        or layout != expected
        or not set(kernel.ATTRIBUTES)
        <= {name for _, _, attributes in expected for name in attributes}
    ):
        raise NoKernelError(f"selectolax {selectolax.__version__} has another layout of nodes here")
    return kernel


def _nodes(node: LexborNode | None) -> Iterator[LexborNode]:
    """Yield a node and all below it, in document order."""
    if node is not None:
        yield node
        child = node.first_child
        while child is not None:
            yield from _nodes(child)
            child = child.next


def _names_of_numbers(
    nodes: list[LexborNode], read: list[tuple[int, str | None, dict[str | int, str | None]]]
) -> dict[str | int, str]:
    """Return the names of attributes that the parser knows by number."""
    return {
        name: name_in_kernel
        for node, (_, _, attributes) in zip(nodes, read, strict=False)
        for name, name_in_kernel in zip(attributes, node.attributes, strict=False)
        if isinstance(name, int)
    }


def attribute_numbers(loaded: ModuleType) -> dict[str, int]:
    """Return the parser's number for each attribute that the kernel reads, 0 for those that it
    doesn't know."""
    tree = LexborHTMLParser(_PAGE)
    nodes = list(_nodes(tree.root))
    read = loaded.read_tree(nodes[0].mem_id)
    numbers = {name: number for number, name in _names_of_numbers(nodes, read).items()}
    return {name: int(numbers.get(name, 0)) for name in loaded.ATTRIBUTES}


def _try_to_load() -> tuple[ModuleType | None, str]:
    try:
        return load(), f"compiled (selectolax {selectolax.__version__})"
    except NoKernelError as error:
        return None, f"Python, without the compiled kernel: {error}"


kernel, PATH = _try_to_load()
"""The compiled kernel, None if Python alone is used; and a line that says which and why."""
