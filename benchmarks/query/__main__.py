"""Run the query benchmark."""

import sys

from benchmarks.query import main

sys.exit(main())
