"""`python -m invaract_orchestration` is `invaract`."""

from invaract_orchestration.cli import main

if __name__ == "__main__":
    main()
