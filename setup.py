"""Build the compiled part of extraction where there is a C compiler; pyproject.toml has the rest.

Without a compiler the installation succeeds, and extraction runs in Python.
"""

import hashlib
from pathlib import Path

from setuptools import Extension, setup

KERNEL = Path("newscrawl", "extraction", "kernel.pyx")

setup(
    ext_modules=[
        Extension(
            "newscrawl.extraction.kernel",
            [KERNEL.as_posix()],
            # The binary states what it was made of; newscrawl.extraction.compiled compares it.
            define_macros=[
                ("KERNEL_SOURCE", f'"{hashlib.sha256(KERNEL.read_bytes()).hexdigest()}"')
            ],
            optional=True,
        )
    ],
    # An editable installation is a folder on the path, which type checkers follow; they don't see
    # what the import hook of the default mode finds.
    options={"build_ext": {"cython_c_in_temp": True}, "editable_wheel": {"mode": "compat"}},
)
