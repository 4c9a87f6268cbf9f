"""Run the crawl benchmark."""

import sys

from benchmarks.crawl import main

sys.exit(main())
