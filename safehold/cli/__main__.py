"""`python -m safehold.cli`."""

from safehold.cli.main import main

if __name__ == "__main__":
    main()
