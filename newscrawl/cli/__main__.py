"""python -m newscrawl.cli"""

from newscrawl.cli import main

if __name__ == "__main__":  # processes that evaluation spawns read this module too
    main()
