"""python -m newscrawl.cli"""

from newscrawl.cli import main

main()
