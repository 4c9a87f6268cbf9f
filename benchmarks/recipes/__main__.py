"""python -m benchmarks.recipes"""

from benchmarks.recipes.command_line import main

if __name__ == "__main__":
    main()
